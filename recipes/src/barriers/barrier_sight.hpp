#pragma once

/// \file
/// BarrierSight is what a wait at a barrier concludes from a read of the barrier's node.

#include <cstdint>
#include <optional>

#include "custodian/node.hpp"
#include "custodian/session/session.hpp"

namespace custodian::recipes_detail {

enum class BarrierSight : std::uint8_t {
  open,      ///< the barrier is open, or was open after the wait first saw it closed
  closed,    ///< the node that the wait saw first still closes the barrier: its deletion opens it
  outdated,  ///< a server that lags behind shows an earlier node, whose deletion says nothing
};

/// `first_seen` is the czxid of the first node that the wait has seen, or 0 if it has seen none. A
/// node that was created later shows that the first one was deleted in between.
[[nodiscard]] constexpr BarrierSight sight_of(std::int64_t first_seen,
                                              const std::optional<Stat>& node) noexcept {
  if (!node) return BarrierSight::open;
  if (first_seen == 0 || node->czxid == first_seen) return BarrierSight::closed;
  return node->czxid > first_seen ? BarrierSight::open : BarrierSight::outdated;
}

/// Whether the event of a watch on that node shows that the barrier was open. After any other event
/// the wait looks again.
[[nodiscard]] constexpr bool opens(BarrierSight sight, WatchEventType event) noexcept {
  return sight == BarrierSight::closed && event == WatchEventType::deleted;
}

}  // namespace custodian::recipes_detail
