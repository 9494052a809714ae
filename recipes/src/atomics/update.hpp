#pragma once

/// \file
/// An update of a node's data: read, compute, write if nobody else has written meanwhile, or begin
/// again; and settle a lost reply. On bytes; distributed atomics are data over it.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "atomics/atomic_node.hpp"
#include "atomics/stored.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// What to write instead of these bytes; nothing: leave them. May be called several times.
using Compute = std::function<Result<std::optional<std::string>>(const Stored&)>;

/// User code never runs on the strand.
enum class ComputedOn : std::uint8_t { strand, callback_executor };

struct UpdateJob {
  AtomicNodePtr node;
  CancellationPtr cancellation{};
  OperationOptions options{};  ///< with a deadline that is not a default one
  Compute compute{};
  ComputedOn computed_on = ComputedOn::strand;
  /// A value that the caller has read: if it is still there the update need not read it.
  std::optional<Versioned<std::string>> known{};
};

/// Strand only.
[[nodiscard]] boost::asio::awaitable<Result<StoredUpdate>> update(UpdateJob job);

}  // namespace custodian::recipes_detail
