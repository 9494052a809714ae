#pragma once

/// \file
/// The way of one contender to the front of its queue, and to its lease; and the steps of it that
/// other recipes take, too. For the strand only.

#include <boost/asio/awaitable.hpp>

#include "acquire/acquire.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

/// Creates a node, and waits until it is first.
void stand_in_line(const AcquirePtr& acquire, Handler<OwnedNode> in_front);
/// What its caller wants to know of those in front.
[[nodiscard]] inline Positions positions_of(const Acquire& acquire) noexcept {
  return acquire.options.on_position ? Positions::all : Positions::none;
}
/// Stands in the queue, and takes the lock.
void acquire_lock(const AcquirePtr& acquire);
/// First in the queue: a lease, as soon as the lease clock runs.
[[nodiscard]] boost::asio::awaitable<Result<Leases>> take(AcquirePtr acquire, OwnedNode node);

}  // namespace custodian::recipes_detail
