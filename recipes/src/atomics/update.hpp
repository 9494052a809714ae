#pragma once

/// \file
/// An update of a node's data: read, compute, write if nobody else has written since, otherwise
/// begin again. If the reply to the write is lost, the update finds out whether the write was
/// applied. An update works on bytes; distributed atomics encode their values as bytes.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "atomics/atomic_node.hpp"
#include "atomics/stored.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// Returns what to write in place of the given bytes; nothing leaves them as they are. May be
/// called several times.
using Compute = std::function<Result<std::optional<std::string>>(const Stored&)>;

/// Where an update is computed. User code never runs on the strand.
enum class ComputedOn : std::uint8_t { strand, callback_executor };

struct UpdateJob {
  AtomicNodePtr node;
  CancellationPtr cancellation{};
  OperationOptions options{};  ///< the deadline must be set: no default applies here
  Compute compute{};
  ComputedOn computed_on = ComputedOn::strand;
  /// A value that the caller has read. The update need not read it again if it is still the node's
  /// value.
  std::optional<Versioned<std::string>> known{};
};

/// Strand only.
[[nodiscard]] boost::asio::awaitable<Result<StoredUpdate>> update(UpdateJob job);

}  // namespace custodian::recipes_detail
