#pragma once

/// \file
/// A contender creates its node, waits until it is first, and makes a lease of it; other recipes
/// use some of these steps, too. Used on the strand only.

#include <boost/asio/awaitable.hpp>

#include "acquire/acquire.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

/// Creates a node, waits until it is first, and passes it to `in_front`.
void stand_in_line(const AcquirePtr& acquire, Handler<OwnedNode> in_front);
/// The changes in front that the caller wants to know of.
[[nodiscard]] inline Positions positions_of(const Acquire& acquire) noexcept {
  return acquire.options.on_position ? Positions::all : Positions::none;
}
/// Attempts an acquire: enters the queue, and acquires the lock.
void acquire_lock(const AcquirePtr& acquire);
/// Makes a lease of a node that has been granted its lock or permit, as soon as the lease clock
/// shows that the session is certainly alive.
[[nodiscard]] boost::asio::awaitable<Result<Leases>> take(AcquirePtr acquire, OwnedNode node);

}  // namespace custodian::recipes_detail
