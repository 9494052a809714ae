#pragma once

/// \file
/// Acquire is one acquire, from its call to its end: its limits, its cancellation, its attempts,
/// its result. The attempts are elsewhere (contender.hpp, for a lock). For the strand only, except
/// the functions that start an acquire.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "acquire/newcomers.hpp"
#include "acquire/participants.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/locks/wait_limit.hpp"
#include "custodian/watch.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// All the leases that were asked for.
using Leases = std::vector<Lease>;

/// What an acquire ends with: the leases, or the reason why there are none.
struct Acquired {
  Leases leases;
  std::optional<Participant> blocked_by;
  NotAcquired reason = NotAcquired::none;
};

struct Acquire;
using AcquirePtr = std::shared_ptr<Acquire>;
/// One try to get the leases. It ends with a call of end_attempt().
using Attempt = std::function<void(const AcquirePtr&)>;

/// Thousands of acquires may wait, each for hours, so a waiter has only this object and its place
/// in the queue.
struct Acquire {
  LockSpecPtr spec;  ///< the lock
  WaitLimit wait_limit;
  AcquireOptions options;
  /// The attempt, which is repeated if the session is lost.
  Attempt attempt;
  /// Ends the acquire early: at the caller's request, at the deadline, or when the client closes.
  CancellationPtr give_up{};
  /// The caller's exclusive lease, if a shared one is acquired beside it; else empty.
  Lease held{};
  bool late = false;          ///< the deadline has passed
  bool out_of_reach = false;  ///< the servers were out of reach for `max_unreachable`
  bool declined = false;      ///< it asks only once, and the lock is held
  bool has_queued = false;    ///< its node was created
  bool asked = false;         ///< a request to release was written into its node while it waited
  /// Set if it stands in for the waiters of a kept lock: the observer hears of those, not of this
  /// acquire, and the lock's other nodes are not told of this newcomer.
  const NewcomerListener* for_others = nullptr;
  bool watches_queue = false;            ///< the listing that travels with its create is watched
  std::shared_ptr<Watch> queue_watch{};  ///< of that listing
  bool was_alone = false;                ///< that listing showed no other contender
  std::uint64_t listed_on = 0;           ///< the connection of that listing
  bool somebody_ahead = false;           ///< as last seen, even where the nearest one is unknown
  /// The nearest contender ahead, as last seen. Behind a contender of the same client it is set
  /// when the wait ends without a grant; earlier only for a callback, a try, or `shows_nearest`.
  std::unique_ptr<Participant> nearest{};
  /// Whether `nearest` must be known during the wait, too.
  bool shows_nearest = false;
  /// Called on the strand whenever it begins to wait in its queue, if set.
  std::function<void()> on_waiting{};

  // Set when the acquire starts; finish() needs them.
  BootClock::time_point began{};                       ///< set only if the client has an observer
  CancellationPtr callers{};                           ///< the caller's cancellation; may be null
  CancellationPtr reachability_watch{};                ///< ends watch_reachability()
  std::unique_ptr<boost::asio::steady_timer> timer{};  ///< if there is a deadline
  Handler<Acquired> handler{};

  [[nodiscard]] const Client& client() const { return spec->client; }
  /// Requests are retried until the acquire is given up, so they have no limits of their own. A try
  /// makes each request once.
  [[nodiscard]] RetryPolicy retry() const {
    return wait_limit.try_once ? RetryPolicy::none() : client().retry_policy().unlimited();
  }
  [[nodiscard]] OperationOptions operation() const { return {Deadline::never(), retry()}; }
  [[nodiscard]] LeaseOptions lease_options() const {
    LeaseOptions of_lock = spec->lease;
    if (options.lease.loss_policy) of_lock.loss_policy = options.lease.loss_policy;
    if (options.lease.hold_at_most) of_lock.hold_at_most = options.lease.hold_at_most;
    return of_lock;
  }
};

/// Starts an acquire, from any thread. Its limits, its cancellation or the client's end may end it
/// early. The handler runs on the strand, or within this call.
void start(AcquirePtr what, CancellationPtr cancellation, Handler<Acquired> handler);

/// Adapts the handler of an acquire of one lease.
[[nodiscard]] Handler<Acquired> as_one_lease(Handler<AcquireResult> handler);

/// Reports the end of an acquire to the client's observer, if there is one.
void observe_end(const LockSpec& spec, const WaitLimit& wait_limit, BootClock::time_point began,
                 const error_code& error, std::size_t leases);

/// Records that the lock is held and the acquire asks only once. Returns the error to end the
/// attempt with; the caller of the acquire gets no error but "busy".
[[nodiscard]] error_code decline(Acquire& acquire);
/// Ends the attempt. Another one follows if the session was lost, unless the caller has refused to
/// queue again or the acquire only tries.
void end_attempt(const AcquirePtr& acquire, Result<Leases> attempt);
/// Runs a coroutine that is an attempt, or the rest of one.
void attempt_by(const AcquirePtr& acquire, boost::asio::awaitable<Result<Leases>> coroutine);

}  // namespace custodian::recipes_detail
