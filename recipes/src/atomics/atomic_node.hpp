#pragma once

/// \file
/// AtomicNode is what all handles on one distributed atomic share.

#include <memory>

#include "atomics/value_line.hpp"
#include "custodian/atomics/distributed_atomic.hpp"
#include "ordering/lock_spec.hpp"
#include "shared/shared_node.hpp"

namespace custodian::recipes_detail {

/// Immutable, except the line.
struct AtomicNode {
  SharedNodePtr value;
  UpdateOptions options;
  /// The lock of `options.promoted`; null if there is none.
  LockSpecPtr lock{};
  /// The line of the value, strand only: it keeps the witness from the first update on.
  mutable ValueLinePtr line{};
};

/// The line of this client and this path. Strand only.
[[nodiscard]] inline ValueLinePtr line_of(const AtomicNode& node) {
  if (!node.line) node.line = ValueLine::of(node.value->client, node.value->path);
  return node.line;
}

}  // namespace custodian::recipes_detail
