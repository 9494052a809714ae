#pragma once

/// \file
/// One acquire, from its call to its end, and the steps that acquires of all kinds share. For the
/// strand only.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "acquire/contender_queue.hpp"
#include "acquire/participants.hpp"

namespace custodian::recipes_detail {

/// What one attempt comes to: leases, all that were asked for, or an error.
struct Turn {
  error_code error;
  std::vector<Lease> leases;
};

/// What an acquire ends with.
struct Outcome {
  std::vector<Lease> leases;
  std::optional<Participant> blocked_by;
  NotAcquired reason = NotAcquired::none;
};

struct Acquire;
using AcquirePtr = std::shared_ptr<Acquire>;
/// Ends with end_attempt().
using Attempt = std::function<void(const AcquirePtr&)>;

/// There may be thousands of them that wait, each for hours: who waits in line has this, its place
/// there, and nothing else.
struct Acquire {
  QueuePtr queue;  ///< where it stands
  Patience patience;
  AcquireOptions options;
  /// What is tried, and again if the session is lost.
  Attempt attempt;
  /// The only way in which anything here is cut short: by the caller, the deadline, or the client's
  /// end.
  CancellationPtr give_up{};
  /// The exclusive lock that the shared one is acquired beside, if so.
  Lease held{};
  bool late = false;
  bool out_of_reach = false;
  bool declined = false;  ///< it was only to be tried
  bool has_queued = false;
  bool for_others = false;      ///< who wait; what becomes of them is told, and not of this
  bool somebody_ahead = false;  ///< as last seen, if not always who
  /// The nearest one ahead, as last seen; of one that waits behind its own client's, when it ends.
  std::unique_ptr<Participant> nearest{};
  /// It is asked for meanwhile, too.
  bool shows_nearest = false;
  /// Called on the strand whenever it begins to wait in its queue, if set.
  std::function<void()> on_waiting{};

  // What start() puts here, for the end.
  BootClock::time_point began{};  ///< read only for an observer
  CancellationPtr callers{};
  CancellationPtr reach_minded{};                      ///< ends mind_reach()
  std::unique_ptr<boost::asio::steady_timer> timer{};  ///< if there is a deadline
  Handler<Outcome> handler{};

  [[nodiscard]] const Client& client() const { return queue->client; }
  /// Everything is retried until somebody gives up, so operations need no limits of their own.
  [[nodiscard]] RetryPolicy retry() const {
    return patience.only_try ? RetryPolicy::none() : client().retry_policy().unlimited();
  }
  [[nodiscard]] OperationOptions operation() const { return {Deadline::never(), retry()}; }
  [[nodiscard]] LeaseOptions lease_options() const {
    LeaseOptions of_lock = queue->lease;
    if (options.lease.loss_policy) of_lock.loss_policy = options.lease.loss_policy;
    if (options.lease.hold_at_most) of_lock.hold_at_most = options.lease.hold_at_most;
    return of_lock;
  }
};

/// Begins an acquire, from any thread: sees to its limits, its cancellation, the client's end. The
/// handler runs on the strand, or at once.
void start(AcquirePtr what, CancellationPtr cancellation, Handler<Outcome> handler);

/// For an acquire of one lease.
[[nodiscard]] Handler<Outcome> as_one_lease(Handler<AcquireResult> handler);

/// Tells the client's observer, if there is one, of the end of an acquire.
void observe_end(const Queue& queue, const Patience& patience, BootClock::time_point began,
                 const error_code& error, std::size_t leases);

/// What the attempt has come to; another one follows if its session was lost, and that is wanted.
void end_attempt(const AcquirePtr& acquire, Turn turn);
/// For an attempt, or the rest of one, that is a coroutine.
void attempt_by(const AcquirePtr& acquire, boost::asio::awaitable<Turn> coroutine);

/// Gives up when the servers are out of reach for longer than its patience allows; until `over`.
[[nodiscard]] boost::asio::awaitable<void> mind_reach(AcquirePtr acquire, CancellationPtr over);
/// Creates a node, and waits until it is first.
void stand_in_line(const AcquirePtr& acquire, Handler<OwnNode> in_front);
/// Sees to it that a change of the own node wakes whoever waits; no_node if it has gone.
[[nodiscard]] boost::asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnNode& own);
/// What people should know of a queue, in the log, once.
void report_oddities(const Queue& queue, const Listing& listing);
/// The same of a node whose number nobody can tell; gives the error.
[[nodiscard]] error_code report_malformed(const Queue& queue, std::string_view name);
/// Ends with the first event, or when somebody gives up. A session that is over is no error: it
/// shows in the next listing.
[[nodiscard]] boost::asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers);
/// Tells whoever acquires, if they want to know: how many are ahead, and `nearest`.
void tell_position(const Acquire& acquire, std::size_t ahead);
/// Stands in the queue, and takes the lock.
void acquire_lock(const AcquirePtr& acquire);
/// Creates a shared node beside the exclusive one that is held, and needs not wait.
[[nodiscard]] boost::asio::awaitable<Turn> stand_beside(AcquirePtr acquire);
/// First in the queue: a lease, as soon as the lease clock runs.
[[nodiscard]] boost::asio::awaitable<Turn> take(AcquirePtr acquire, OwnNode node);

}  // namespace custodian::recipes_detail
