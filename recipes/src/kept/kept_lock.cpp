#include "kept/kept_lock.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <limits>
#include <utility>

#include "kept/kept_locks.hpp"
#include "local_handover/local_queue.hpp"

// How a client passes a lock on, and keeps it (turn_order.hpp decides, pure):
//
// 1. take(): the node is idle, so the caller has the lock at once.
// 2. Otherwise enter() adds a waiter. If there are too few stand-ins, one more enters the queue.
// 3. on_acquired(): a stand-in was granted the lock. The oldest waiter gets its lease. If the node
//    is to be kept, a listing with a watch must show it alone: the one that travelled with its
//    create, or, if this client has other nodes in the queue, one more, behind their deletes.
// 4. on_done(): the holder has released. The oldest waiter gets a lease on the same node, in the
//    releasing thread: neither the strand nor a server takes part. Without a waiter the node stays,
//    idle, if the client is alone. In all other cases it is deleted.
// 5. end_keeping(): the watch has fired, the connection was lost, or the like. An idle node is
//    deleted, and waiters get stand-ins again.
//
// Each step decides under the mutex, unlocks it, and only then acts (Errand). How a client finds
// out that it is alone, and the end of keeping, are in kept_lock_company.cpp; the stand-ins in
// kept_lock_waiters.cpp; the limits of the waiters in local_waiters.cpp.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

using Ending = TurnOrder::Ending;
using Fate = TurnOrder::Fate;

/// How a stand-in has ended. A node that an operator deleted fails one waiter; every other failure
/// would hit all of them. A stand-in that was asked to leave fails no waiter, unless the client is
/// closed.
Ending ending_of(const error_code& error, bool leaving) {
  if (leaving && error != Errc::closed) return Ending::left;
  if (error == asio::error::operation_aborted) return Ending::left;
  return error == Errc::node_deleted ? Ending::failed_for_one : Ending::failed_for_all;
}

TurnRules rules_of(HandOff hand_off) {
  // A strict lock has a stand-in for each waiter, so that waiters are served in the order of
  // arrival.
  constexpr std::size_t few = 4;
  const bool strict = hand_off == HandOff::strict();
  return {.max_local_handoffs = hand_off.max_local_handoffs(),
          .most_in_line = strict ? std::numeric_limits<std::size_t>::max() : few};
}

}  // namespace

KeptLock::KeptLock(const Client& client, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
                   Attempt attempt)
    : LocalWaiters{client},
      core_{client.core()},
      keep_idle_for_{keep_idle_for},
      attempt_{attempt},
      order_{rules_of(hand_off)} {}

bool KeptLock::may_take(const AcquireOptions& options) {
  return !options.lease.loss_policy && !options.lease.hold_at_most;
}

bool KeptLock::may_enter(const WaitLimit& wait_limit, const AcquireOptions& options) {
  return may_wait(wait_limit, options) && may_take(options);
}

// -- Callers --------------------------------------------------------------------------------------

Lease KeptLock::take() {
  Lock lock{mutex_};
  const detail::LockNodePtr node = take_node();
  lock.unlock();
  return node ? detail::next_lease(node, detail::Events::of_loss_only) : Lease{};
}

/// The caller holds the mutex.
detail::LockNodePtr KeptLock::take_node() {
  // `keeping_is_over_` is read under the mutex. If callers read it before they lock the mutex, all
  // that wait for the mutex would overtake a contender that comes meanwhile.
  if (!idle_ || keeping_is_over_ || closed_ || !detail::may_be_passed_on(idle_)) return nullptr;
  is_popular_ = true;
  record_.on_reused();
  ++turns_;
  return std::move(idle_);
}

void KeptLock::enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
                     Handler<AcquireResult> handler) {
  if (const error_code error = spec->client.unusable()) {
    return std::move(handler)(error, AcquireResult{});
  }
  Lock lock{mutex_};
  if (const detail::LockNodePtr node = take_node()) {
    lock.unlock();
    Lease lease = detail::next_lease(node, detail::Events::of_loss_only);
    return std::move(handler)(error_code{}, AcquireResult{.lease = std::move(lease)});
  }
  // The idle node may not be used: its delete travels before the create of a stand-in.
  Errand errand;
  detail::LockNodePtr unfit = std::move(idle_);
  if (unfit) {
    record_.end(core_, keeping_is_over_ ? why_over_.load() : KeptLockEnd::unusable);
    errand = begin_errand(order_.on_idle_gone());
  }
  const auto [id, line] = order_.enter();
  // The begin of the wait is reported before another thread can complete the waiter.
  add_waiter(id, Waiter{spec, std::move(handler), deadline, ObservedAcquire{spec}});
  errand = add_to(std::move(errand), line);
  lock.unlock();

  unfit.reset();
  run(std::move(errand));
  if (!cancellation && deadline.is_never()) return;
  asio::dispatch(strand_,
                 [self = self(), waiter = id, deadline, cancellation = std::move(cancellation)] {
                   self->limit(waiter, cancellation, deadline);
                 });
}

// -- The holder of the lock -----------------------------------------------------------------------

void KeptLock::on_acquired(Number number, error_code error, Lease lease) {
  Lock lock{mutex_};
  const StandIn stand_in = std::move(in_line_.extract(number).mapped());
  if (!lease) return on_failed(std::move(lock), stand_in.leaving, error);

  // Without a waiter `lease` is destroyed at the end, which releases the lock.
  const bool keeps =
      keep_idle_for_.count() > 0 && !closed_ && order_.has_waiters() && record_.forecast().begin();
  const TurnOrder::Next next = order_.on_first(keeps);
  Errand errand = begin_errand(next.line);
  if (!next.holder) {
    lock.unlock();
    return run(std::move(errand));
  }
  Waiter holder = take_waiter(*next.holder, errand);
  const Tenure tenure = order_.tenure();
  // A stand-in that was granted the lock lives until its handler returns.
  const AcquirePtr acquire = stand_in.acquire.lock();
  begin_tenure(holder, lease, keeps);
  const bool alone = keeps && is_alone(number, *acquire, lease);
  if (alone) static_cast<void>(order_.on_listed(true, false, false));
  // If there is still a node from before, that one was lost.
  const auto lost = std::pair{std::move(idle_), std::move(released_)};
  const bool asking = order_.is_asking();
  // Stand-ins at a turnstile are not in the queue that is listed. So they leave here, before the
  // next of them passes the turnstile.
  const bool leave_first = asking && holder.spec->permits != nullptr && order_.in_line() > 0;
  if (leave_first) errand = add_to(std::move(errand), order_.dismiss_stand_ins());
  lock.unlock();

  newest_ = tenure;
  // A watch that is not needed costs nothing: it fires when the node is deleted.
  watch_ = acquire->queue_watch;
  listing_.reset();
  listed_again_ = leave_first;
  node_path_ = lease.node();
  listed_ = asking ? LocalQueue::of(holders_of(*holder.spec)) : nullptr;
  run(std::move(errand));
  if (keep_idle_for_.count() > 0) KeptLocks::remember(lease.core(), self());
  detail::set_pass_on(
      detail::lock_node(lease),
      [self = self(), tenure](detail::LockNodePtr node) { self->on_done(tenure, std::move(node)); },
      [weak = weak(), tenure] {
        const auto self = weak.lock();
        if (self && self->newest_ == tenure) self->end_keeping(KeptLockEnd::unusable);
      });
  if (alone) wait_for_company(tenure);
  if (asking && !leave_first) list();
  complete(std::move(holder), {}, AcquireResult{.lease = std::move(lease)});
}

void KeptLock::on_failed(Lock lock, bool leaving, const error_code& error) {
  const TurnOrder::Failure failure = order_.on_ending(ending_of(error, leaving));
  Errand errand = begin_errand(failure.line);
  std::vector<Waiter> failed;
  for (const Id id : failure.failed) failed.push_back(take_waiter(id, errand));
  const bool all_have_left = order_.is_asking() && order_.in_line() == 0;
  lock.unlock();

  run(std::move(errand));
  for (Waiter& each : failed) complete(std::move(each), error, AcquireResult{});
  if (!all_have_left) return;
  // This may run on another thread, if the client closes.
  asio::dispatch(strand_, [self = self()] {
    if (self->listed_ && self->listed_again_ && !self->listing_) self->list();
  });
}

void KeptLock::begin_tenure(const Waiter& holder, const Lease& lease, bool keeps) {
  keeping_is_over_ = closed_;
  record_.begin(keeps, holder.spec->observed, lease.token());
  is_popular_ = false;
  ++turns_;
}

/// Whether the listing that travelled with the create shows that the client is alone. A listing
/// from an earlier connection, or from before a newcomer of this client, may be out of date. With
/// other stand-ins in the queue the client is not alone there.
bool KeptLock::is_alone(Number number, const Acquire& acquire, const Lease& lease) const {
  return acquire.was_alone && number > outrun_ && order_.in_line() == 0 &&
         acquire.listed_on == detail::connection_number(*lease.core());
}

void KeptLock::on_done(Tenure tenure, detail::LockNodePtr node) {
  Lock lock{mutex_};
  // This node was lost, and a newer one has taken its place.
  if (tenure != order_.tenure()) return;
  TurnOrder::Line line;
  if (keeping_is_over_) line = order_.on_company();
  // Whether the lease would last for another holder matters only if there is a waiter.
  const bool sound =
      order_.has_waiters() ? detail::may_be_passed_on(node) : !detail::has_passing_ended(node);
  TurnOrder::Next next = order_.on_done(tenure, sound);
  next.line.stand += line.stand;
  next.line.leave = next.line.leave || line.leave;
  settle(std::move(lock), std::move(next), std::move(node));
}

/// Carries out what was decided about a released node. `node` may be null: then only the stand-ins
/// are concerned.
void KeptLock::settle(Lock lock, TurnOrder::Next next, detail::LockNodePtr node) {
  Errand errand = begin_errand(next.line);
  std::optional<Waiter> holder;
  switch (next.fate) {
    case Fate::release:
      // The watch may have fired while the strand waits for the mutex: see end_keeping().
      if (node) record_.end(core_, keeping_is_over_ ? why_over_.load() : KeptLockEnd::unusable);
      break;
    case Fate::pass:
      holder = take_waiter(*next.holder, errand);
      is_popular_ = true;
      record_.on_passed(order_.is_alone());
      ++turns_;
      break;
    case Fate::idle:
      detail::set_idle(node);
      record_.on_idle();
      idle_ = std::move(node);
      break;
    case Fate::wait: released_ = std::move(node); break;
  }
  lock.unlock();

  // Stand-ins that no waiter needs leave before the destructor of `node` releases the lock. A
  // stand-in that is granted the lock anyway releases it.
  run(std::move(errand));
  if (!holder) return;
  Lease lease = detail::next_lease(node);
  // From here on only the lease owns the node, so its release need not wait until the handler
  // returns.
  node.reset();
  complete(std::move(*holder), {}, AcquireResult{.lease = std::move(lease)});
}

}  // namespace custodian::recipes_detail
