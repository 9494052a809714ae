#pragma once

/// \file
/// These functions are the steps of a wait that a lock's contender (contender.cpp) and an acquire
/// of permits (semaphore_spec.cpp) share: they watch the contender's own node, wait for an event,
/// and report the position. StripedMutex waits by way of contender.cpp; a downgrade never waits.
/// Used on the strand only.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Whether a watch on the contender's own node is armed.
[[nodiscard]] bool is_watched(const OwnedNode& own);
/// Arms a watch on the contender's own node, unless one is armed. Returns no_node if the node is
/// gone.
[[nodiscard]] boost::asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnedNode& own);
/// Waits for the first event, or until the acquire is given up. A lost session is no error here:
/// the next listing shows it.
[[nodiscard]] boost::asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers);
/// Reports how many contenders are ahead, and `nearest`, if the caller has asked for positions.
void tell_position(const Acquire& acquire, std::size_t ahead);

}  // namespace custodian::recipes_detail
