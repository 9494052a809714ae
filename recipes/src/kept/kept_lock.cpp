#include "kept/kept_lock.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <functional>

#include "acquire/contender.hpp"
#include "acquire/not_acquired.hpp"
#include "custodian/authoring/observed_lock.hpp"
#include "custodian/observer.hpp"

// How holders pass a lock on (cohort_order.hpp decides, pure):
//
// 1. enter() adds a waiter. If there are too few stand-ins, one more enters the queue.
// 2. on_acquired(): a stand-in was granted the lock. The oldest waiter gets its lease.
// 3. on_done(): the holder has released. The oldest waiter gets a lease on the same node, in the
//    releasing thread: neither the strand nor a server takes part. The node is deleted if there is
//    no waiter, if the passes are used up, or if the node may not be passed on.
// 4. give_up(): the cancellation or the deadline of a waiter. If no waiter is left, the stand-ins
//    leave.
//
// Each step decides under the mutex, unlocks it, and only then acts (Errand).

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

using Ending = CohortOrder::Ending;

/// How a stand-in has ended. A node that an operator deleted fails one waiter; every other failure
/// would hit all of them. A stand-in that was asked to leave fails no waiter, unless the client is
/// closed.
Ending ending_of(const error_code& error, bool leaving) {
  if (leaving && error != Errc::closed) return Ending::left;
  if (error == asio::error::operation_aborted) return Ending::left;
  return error == Errc::node_deleted ? Ending::failed_for_one : Ending::failed_for_all;
}

}  // namespace

Cohort::Cohort(const Client& client, int max_local_handoffs)
    : client_{client.share()},
      order_{max_local_handoffs},
      alarm_{std::make_unique<asio::steady_timer>(client.get_executor())} {}

Cohort::~Cohort() {
  if (client_.unusable() != Errc::forked) return;
  // In the child of a fork mutexes may be locked for ever.
  [[maybe_unused]] const auto* const leaked = alarm_.release();
}

bool Cohort::may_enter(const WaitLimit& wait_limit, const AcquireOptions& options) {
  return !wait_limit.try_once && !wait_limit.max_unreachable && !options.on_position &&
         !options.on_requeued && options.requeue == RequeuePolicy::queue_again &&
         !options.lease.loss_policy && !options.lease.hold_at_most;
}

void Cohort::enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
                   Handler<AcquireResult> handler) {
  if (const error_code error = spec->client.unusable()) {
    return std::move(handler)(error, AcquireResult{});
  }
  Cohort& cohort = *spec->cohort;
  const auto began = spec->observed ? now_of(spec->client.core()) : BootClock::time_point{};
  std::unique_lock lock{cohort.mutex_};
  const auto [id, line] = cohort.order_.enter();
  cohort.waiters_.emplace(id, Waiter{std::move(handler), deadline, began});
  if (!deadline.is_never()) cohort.deadlines_.emplace(deadline.time_point(), id);
  Errand errand = cohort.begin_errand(spec, line);
  lock.unlock();

  run(spec, std::move(errand));
  if (!cancellation && deadline.is_never()) return;
  asio::dispatch(spec->client.get_executor(), [weak = std::weak_ptr{spec}, waiter = id, deadline,
                                               cancellation = std::move(cancellation)] {
    if (const LockSpecPtr alive = weak.lock()) limit(alive, waiter, cancellation, deadline);
  });
}

// -- The holder of the lock -----------------------------------------------------------------------

void Cohort::on_acquired(const LockSpecPtr& spec, Number number, error_code error, Lease lease) {
  Cohort& cohort = *spec->cohort;
  std::unique_lock lock{cohort.mutex_};
  const bool leaving = cohort.in_line_.extract(number).mapped().leaving;
  if (!lease) {
    const CohortOrder::Failure failure = cohort.order_.on_ending(ending_of(error, leaving));
    Errand errand = cohort.begin_errand(spec, failure.line);
    std::vector<Waiter> failed;
    for (const Id id : failure.failed) failed.push_back(cohort.take(id, errand));
    lock.unlock();

    run(spec, std::move(errand));
    for (Waiter& each : failed) end(spec, std::move(each), error, AcquireResult{});
    return;
  }

  // Without a waiter `lease` is destroyed at the end, which releases the lock.
  const CohortOrder::Next next = cohort.order_.on_first();
  Errand errand = cohort.begin_errand(spec, next.line);
  if (!next.holder) {
    lock.unlock();
    return run(spec, std::move(errand));
  }
  Waiter holder = cohort.take(*next.holder, errand);
  const CohortOrder::Tenure tenure = cohort.order_.tenure();
  lock.unlock();

  run(spec, std::move(errand));
  detail::set_pass_on(detail::lock_node(lease),
                      [weak = std::weak_ptr{spec}, tenure](detail::LockNodePtr node) {
                        if (const LockSpecPtr alive = weak.lock()) {
                          on_done(alive, tenure, std::move(node));
                        }
                      });
  end(spec, std::move(holder), {}, AcquireResult{.lease = std::move(lease)});
}

void Cohort::on_done(const LockSpecPtr& spec, CohortOrder::Tenure tenure,
                     detail::LockNodePtr node) {
  Cohort& cohort = *spec->cohort;
  std::unique_lock lock{cohort.mutex_};
  const bool sound = detail::may_be_passed_on(node);
  const CohortOrder::Next next = cohort.order_.on_done(tenure, sound);
  Errand errand = cohort.begin_errand(spec, next.line);
  if (!next.holder) {
    lock.unlock();
    // Stand-ins that no waiter needs leave before the destructor of `node` releases the lock. A
    // stand-in that is granted the lock anyway releases it.
    return run(spec, std::move(errand));
  }
  Waiter holder = cohort.take(*next.holder, errand);
  lock.unlock();

  run(spec, std::move(errand));
  end(spec, std::move(holder), {}, AcquireResult{.lease = detail::next_lease(node)});
}

void Cohort::end(const LockSpecPtr& spec, Waiter waiter, error_code error, AcquireResult result) {
  observe_end(*spec, {}, waiter.began, error, result ? 1 : 0);
  if (result.reason != NotAcquired::none) error.clear();
  std::move(waiter.handler)(error, std::move(result));
}

// -- The stand-ins in the queue -------------------------------------------------------------------

Cohort::Errand Cohort::begin_errand(const LockSpecPtr& spec, CohortOrder::Line line) {
  Errand errand;
  switch (line) {
    case CohortOrder::Line::as_it_is: break;
    case CohortOrder::Line::leave:
      for (auto& [number, each] : in_line_) {
        each.leaving = true;
        errand.leave.push_back(each.end);
      }
      break;
    case CohortOrder::Line::stand:
      errand.stand = std::make_shared<Acquire>(
          Acquire{.spec = spec, .wait_limit = {}, .options = {}, .attempt = acquire_lock});
      errand.stand->shows_nearest = true;
      errand.stand->for_others = true;
      errand.end_of_stand = std::make_shared<Cancellation>(spec->client.core());
      errand.number = ++last_in_line_;
      in_line_.emplace(errand.number, InLine{errand.stand, errand.end_of_stand});
      break;
  }
  return errand;
}

namespace {

/// Reports the end of a stand-in's acquire, once. If the handler is destroyed uncalled, with its
/// executor's context, the destructor reports it; but not in the child of a fork.
struct LastWord {
  LastWord(LockSpecPtr of_spec, std::function<void(error_code, Lease)> to_say)
      : spec{std::move(of_spec)}, say{std::move(to_say)} {}
  LastWord(const LastWord&) = delete;
  LastWord& operator=(const LastWord&) = delete;
  ~LastWord() {
    if (say && spec->client.unusable() != Errc::forked) say(Errc::closed, Lease{});
  }
  LockSpecPtr spec;
  std::function<void(error_code, Lease)> say;
};

}  // namespace

void Cohort::run(const LockSpecPtr& spec, Errand errand) {
  for (const CancellationPtr& each : errand.leave) each->request();
  if (errand.stand) {
    const auto last_word = std::make_shared<LastWord>(
        spec, [spec, number = errand.number](error_code error, Lease lease) {
          on_acquired(spec, number, error, std::move(lease));
        });
    start(std::move(errand.stand), std::move(errand.end_of_stand),
          as_one_lease([last_word](error_code error, AcquireResult result) {
            std::exchange(last_word->say, nullptr)(error, std::move(result.lease));
          }));
  }
  // A pending alarm would keep the client's context running.
  if (errand.no_deadline_left) {
    asio::dispatch(spec->client.get_executor(), [weak = std::weak_ptr{spec}] {
      if (const LockSpecPtr alive = weak.lock()) set_alarm(alive);
    });
  }
}

Cohort::Waiter Cohort::take(Id id, Errand& errand) {
  auto waiter = waiters_.extract(id);
  const Deadline deadline = waiter.mapped().deadline;
  if (!deadline.is_never()) {
    deadlines_.erase({deadline.time_point(), id});
    errand.no_deadline_left = deadlines_.empty();
  }
  return std::move(waiter.mapped());
}

// -- Cancellations and deadlines ------------------------------------------------------------------

void Cohort::limit(const LockSpecPtr& spec, Id id, const CancellationPtr& cancellation,
                   Deadline deadline) {
  Cohort& cohort = *spec->cohort;
  if (cancellation && cancellation->requested()) {
    return give_up(spec, id, asio::error::operation_aborted);
  }
  if (cancellation) {
    cancellation->on_request(&cohort, [weak = std::weak_ptr{spec}, id] {
      if (const LockSpecPtr alive = weak.lock()) {
        give_up(alive, id, asio::error::operation_aborted);
      }
    });
  }
  if (deadline.time_point() < cohort.alarm_at_) set_alarm(spec);
}

void Cohort::give_up(const LockSpecPtr& spec, Id id, error_code error) {
  Cohort& cohort = *spec->cohort;
  std::unique_lock lock{cohort.mutex_};
  const auto [waited, line] = cohort.order_.leave(id);
  if (!waited) return;
  bool stood = cohort.order_.held();
  bool somebody_ahead = stood;
  std::optional<Participant> nearest;
  // The stand-ins know what is ahead of the waiter.
  for (const auto& [number, each] : cohort.in_line_) {
    const AcquirePtr acquire = each.acquire.lock();
    if (!acquire) continue;
    stood = stood || acquire->has_queued;
    somebody_ahead = somebody_ahead || acquire->somebody_ahead;
    if (!nearest && acquire->nearest) nearest = *acquire->nearest;
  }
  AcquireResult result{.blocked_by = std::move(nearest)};
  if (error == Errc::deadline_exceeded) {
    result.reason = why_not_acquired(somebody_ahead || result.blocked_by,
                                     is_connected(spec->client.connection_state()));
    // The caller gets the reason in both cases. The observer distinguishes an acquire that was late
    // in the queue (no error) from one that never entered it.
    if (stood) error.clear();
  }
  Errand errand = cohort.begin_errand(spec, line);
  Waiter waiter = cohort.take(id, errand);
  lock.unlock();

  run(spec, std::move(errand));
  end(spec, std::move(waiter), error, std::move(result));
}

void Cohort::set_alarm(const LockSpecPtr& spec) {
  Cohort& cohort = *spec->cohort;
  {
    const std::lock_guard lock{cohort.mutex_};
    cohort.alarm_at_ = cohort.deadlines_.empty() ? Time::max() : cohort.deadlines_.begin()->first;
  }
  cohort.alarm_->cancel();
  if (cohort.alarm_at_ == Time::max()) return;
  cohort.alarm_->expires_at(cohort.alarm_at_);
  cohort.alarm_->async_wait([weak = std::weak_ptr{spec}](error_code cancelled) {
    const LockSpecPtr alive = weak.lock();
    if (alive && !cancelled) on_alarm(alive);
  });
}

void Cohort::on_alarm(const LockSpecPtr& spec) {
  Cohort& cohort = *spec->cohort;
  // give_up() locks the mutex, so the late waiters are collected first.
  std::vector<Id> late;
  {
    const std::lock_guard lock{cohort.mutex_};
    const auto now = Deadline::Clock::now();
    for (const auto& [time, id] : cohort.deadlines_) {
      if (time > now) break;
      late.push_back(id);
    }
  }
  for (const Id id : late) give_up(spec, id, Errc::deadline_exceeded);
  set_alarm(spec);
}

LockSpecPtr make_lock_spec_with_cohort(const Client& client, std::string_view lock,
                                       const NamingRule& rule, ContenderKind kind, std::string path,
                                       LockOptions options, std::optional<ObservedAs> observed_as) {
  // Readers hold the lock together, so they need no cohort. make_lock_spec() refuses a number below
  // zero.
  const int max_local_handoffs = options.hand_off.max_local_handoffs();
  const bool cohort = kind == ContenderKind::exclusive && max_local_handoffs >= 0 &&
                      options.hand_off != HandOff::strict();
  return make_lock_spec(client, lock, rule, kind, std::move(path), std::move(options), observed_as,
                        cohort ? std::make_shared<Cohort>(client, max_local_handoffs) : nullptr);
}

}  // namespace custodian::recipes_detail
