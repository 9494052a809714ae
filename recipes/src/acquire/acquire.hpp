#pragma once

/// \file
/// Acquire is one acquire, from its call to its end: its limits, its cancellation, its attempts,
/// its result. An attempt itself is elsewhere: contender.hpp for a lock. For the strand only,
/// except the functions that begin one.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "acquire/participants.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/locks/wait_limit.hpp"
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
/// Ends with end_attempt().
using Attempt = std::function<void(const AcquirePtr&)>;

/// Thousands of them may wait, each for hours: a waiter has only this object and its place in the
/// queue.
struct Acquire {
  LockSpecPtr spec;  ///< the lock
  WaitLimit wait_limit;
  AcquireOptions options;
  /// The attempt, which is repeated if the session is lost.
  Attempt attempt;
  /// Ends everything here early: for the caller, the deadline, and the client's end.
  CancellationPtr give_up{};
  /// The exclusive lock of the same caller, for a shared one that is acquired beside it.
  Lease held{};
  bool late = false;
  bool out_of_reach = false;
  bool declined = false;  ///< it only tries, and the lock is held
  bool has_queued = false;
  bool asked = false;       ///< its node was written to while it waited
  bool for_others = false;  ///< stands in for a cohort's waiters: the observer hears of those, not
                            ///< of this acquire
  bool somebody_ahead = false;  ///< as last seen, even where the nearest one is unknown
  /// The nearest contender ahead, as last seen; for one that waits behind a contender of its own
  /// client, as of its end.
  std::unique_ptr<Participant> nearest{};
  /// Whether `nearest` is read before the end, too.
  bool shows_nearest = false;
  /// Called on the strand whenever it begins to wait in its queue, if set.
  std::function<void()> on_waiting{};

  // Set by start(), for the end.
  BootClock::time_point began{};  ///< read only for an observer
  CancellationPtr callers{};
  CancellationPtr reachability_watch{};                ///< ends watch_reachability()
  std::unique_ptr<boost::asio::steady_timer> timer{};  ///< if there is a deadline
  Handler<Acquired> handler{};

  [[nodiscard]] const Client& client() const { return spec->client; }
  /// Everything is retried until the acquire is given up, so operations need no limits of their
  /// own.
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

/// Begins an acquire, from any thread, with its limits, its cancellation, and the client's end. The
/// handler runs on the strand, or at once.
void start(AcquirePtr what, CancellationPtr cancellation, Handler<Acquired> handler);

/// For an acquire of one lease.
[[nodiscard]] Handler<Acquired> as_one_lease(Handler<AcquireResult> handler);

/// Reports the end of an acquire to the client's observer, if there is one.
void observe_end(const LockSpec& spec, const WaitLimit& wait_limit, BootClock::time_point began,
                 const error_code& error, std::size_t leases);

/// Ends the attempt. Another one follows if its session was lost, and that is wanted.
void end_attempt(const AcquirePtr& acquire, Result<Leases> attempt);
/// Runs an attempt, or the rest of one, that is a coroutine.
void attempt_by(const AcquirePtr& acquire, boost::asio::awaitable<Result<Leases>> coroutine);

/// From any thread, for an acquire that enters the queue itself. The handler runs on the strand, or
/// at once.
///
/// `held` is empty, or the caller's lease on this lock. The caller then gets another lease on the
/// same hold, or the shared lock beside the exclusive one, or the error of objection_to().
void start_acquire_within(const LockSpecPtr& spec, CancellationPtr cancellation,
                          WaitLimit wait_limit, AcquireOptions options, Lease held,
                          Handler<AcquireResult> handler);

}  // namespace custodian::recipes_detail
