#pragma once

/// \file
/// Acquire is one acquire, from its call to its end: its limits, its cancellation, its attempts,
/// its result. The attempts are elsewhere (contender.hpp, for a lock). Used on the strand only,
/// except the functions that start an acquire.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquire/acquires_under_way.hpp"
#include "acquire/newcomers.hpp"
#include "acquire/observed_acquire.hpp"
#include "acquire/participants.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/locks/wait_limit.hpp"
#include "custodian/watch.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// The leases of one acquire: all that were asked for, or none.
using Leases = std::vector<Lease>;

/// What an acquire ends with: the leases, or the reason why there are none.
struct Acquired {
  Leases leases;
  std::optional<Participant> blocked_by;
  NotAcquired reason = NotAcquired::none;
  std::string deadlock{};  ///< the circle in which it has waited; empty if there was none
};

struct Acquire;
using AcquirePtr = std::shared_ptr<Acquire>;
/// One try to get the leases. It ends with a call of end_attempt().
using Attempt = std::function<void(const AcquirePtr&)>;

/// One acquire. Thousands of acquires may wait, each for hours, so a waiting acquire costs only
/// this object and its place in the queue.
struct Acquire {
  LockSpecPtr spec;  ///< the lock
  WaitLimit wait_limit;
  AcquireOptions options;
  /// The attempt, which is repeated if the session is lost.
  Attempt attempt;
  /// Ends the acquire early: at the caller's request, at the deadline, when the servers are out of
  /// reach, or when the client closes.
  CancellationPtr give_up{};
  /// The caller's exclusive lease, if a shared one is acquired beside it; else empty.
  Lease held{};
  bool late = false;            ///< the deadline has passed
  bool out_of_reach = false;    ///< the servers were out of reach for `max_unreachable`
  bool declined = false;        ///< the acquire is a try, and the lock is held
  bool has_queued = false;      ///< the acquire's node was created
  bool asked = false;           ///< a request to release was written into the node during the wait
  bool watches_queue = false;   ///< the listing that travels with the create arms a watch
  bool was_alone = false;       ///< that listing showed no other contender
  bool somebody_ahead = false;  ///< a contender was ahead, as last seen; `nearest` may be null
  bool shows_nearest = false;   ///< `nearest` must be known during the wait, too
  /// The circle in which the acquire waits, as a sentence. If it is not empty, the acquire was
  /// given up because of this circle.
  std::string deadlock{};
  /// The kept lock for whose waiters this acquire stands in; null for any other acquire. The
  /// observer hears of those waiters, not of this acquire, and the kept lock is not notified of
  /// this newcomer.
  const NewcomerListener* for_others = nullptr;
  std::shared_ptr<Watch> queue_watch{};  ///< the watch that the listing armed
  std::uint64_t listed_on = 0;           ///< the connection that showed the listing
  /// The nearest contender ahead, as last seen. Behind a contender of the same client it is set
  /// when the wait ends without a grant, or earlier if an `on_position` callback, a try or
  /// `shows_nearest` needs it.
  std::unique_ptr<Participant> nearest{};
  /// Called on the strand when the acquire's node is in the queue, with the node's name. May be
  /// empty.
  std::function<void(std::string_view node)> on_queued{};
  /// Called on the strand whenever the acquire begins to wait in its queue. May be empty.
  std::function<void()> on_waiting{};

  // The members below are set when the acquire starts; finish() needs them.
  ObservedAcquire observed{};                          ///< reports this acquire to the observer
  CancellationPtr callers{};                           ///< the caller's cancellation; may be null
  CancellationPtr reachability_watch{};                ///< ends watch_reachability()
  CancellationPtr deadlock_watch{};                    ///< ends the search for deadlocks
  AcquiresUnderWay::Entry under_way{};                 ///< counts this acquire
  std::unique_ptr<boost::asio::steady_timer> timer{};  ///< null without a deadline
  Handler<Acquired> handler{};

  [[nodiscard]] const Client& client() const { return spec->client; }
  /// Whether the acquire watches its queue, and not the permits behind a turnstile.
  [[nodiscard]] bool watches_its_queue() const { return watches_queue && !spec->permits; }
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

/// Records that a try has found the lock held. Returns the error to end the attempt with. The
/// caller of the acquire gets no error, but `NotAcquired::blocked`.
[[nodiscard]] error_code decline(Acquire& acquire);
/// Ends the attempt. Another attempt follows if the session was lost, unless the caller has refused
/// to queue again or the acquire is a try.
void end_attempt(const AcquirePtr& acquire, Result<Leases> attempt);
/// Runs a coroutine that is an attempt, or the rest of one.
void attempt_by(const AcquirePtr& acquire, boost::asio::awaitable<Result<Leases>> coroutine);

}  // namespace custodian::recipes_detail
