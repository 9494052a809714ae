// The waiters of a kept lock, their stand-ins in the queue, and their limits: see kept_lock.cpp.

#include <unistd.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <functional>
#include <utility>

#include "acquire/not_acquired.hpp"
#include "custodian/authoring/observed_lock.hpp"
#include "custodian/authoring/path.hpp"
#include "kept/kept_lock.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

KeptLock::~KeptLock() {
  // A node that has no holder owns this object, so there is none. In the child of a fork mutexes
  // may be locked for ever.
  if (::getpid() == process_) return;
  [[maybe_unused]] const auto* const leaked = alarm_.release();
}

void KeptLock::abandon() {
  // Destroyed after the mutex is unlocked: the destructor of a handler runs other code.
  std::map<Id, Waiter> waiters;
  std::pair<detail::LockNodePtr, detail::LockNodePtr> nodes;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  keeping_is_over_ = true;
  waiters.swap(waiters_);
  deadlines_.clear();
  for (const auto& [id, waiter] : waiters) static_cast<void>(order_.leave(id));
  // There is no node any more.
  static_cast<void>(order_.on_idle_gone());
  nodes = {std::move(idle_), std::move(released_)};
}

void KeptLock::complete(Waiter waiter, error_code error, AcquireResult result) {
  observe_end(*waiter.spec, {}, waiter.began, error, result ? 1 : 0);
  if (result.reason != NotAcquired::none) error.clear();
  std::move(waiter.handler)(error, std::move(result));
}

// -- The stand-ins in the queue -------------------------------------------------------------------

/// The caller holds the mutex.
KeptLock::Errand KeptLock::add_to(Errand errand, TurnOrder::Line line) {
  for (std::size_t i = 0; i < line.stand; ++i) errand.stand.push_back(make_stand_in());
  if (!line.leave) return errand;
  for (auto& [number, each] : in_line_) {
    each.leaving = true;
    errand.leave.push_back(each.end);
  }
  return errand;
}

KeptLock::NewStandIn KeptLock::make_stand_in() {
  // The stand-ins are no more than the waiters, and any waiter's spec will do.
  const LockSpecPtr& spec = waiters_.begin()->second.spec;
  const auto acquire = std::make_shared<Acquire>();
  acquire->spec = spec;
  acquire->attempt = [self = shared_from_this()](const AcquirePtr& stand_in) {
    self->hear_newcomers(*stand_in->spec);
    self->attempt_(stand_in);
  };
  acquire->shows_nearest = true;
  acquire->for_others = this;
  // What a stand-in lists that is not the only one shows others.
  acquire->watches_queue = keep_idle_for_.count() > 0 && forecast_.keeps_next() && in_line_.empty();
  NewStandIn stand_in{.number = ++last_in_line_,
                      .acquire = acquire,
                      .end = std::make_shared<Cancellation>(spec->client.core())};
  in_line_.emplace(stand_in.number, StandIn{stand_in.acquire, stand_in.end});
  return stand_in;
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

/// From the first stand-in on: what stand-ins list may be older than a newcomer.
void KeptLock::hear_newcomers(const LockSpec& spec) {
  if (keep_idle_for_.count() == 0 || std::exchange(hears_newcomers_, true)) return;
  Client{spec.client.share()}.use_service<Newcomers>().add(spec.path, weak_from_this());
}

void KeptLock::run(Errand errand) {
  for (const CancellationPtr& each : errand.leave) each->request();
  for (const NewStandIn& each : errand.stand) {
    // A number, and not the acquire, which owns this function.
    const auto last_word = std::make_shared<LastWord>(
        each.acquire->spec,
        [self = shared_from_this(), number = each.number](error_code error, Lease lease) {
          self->on_acquired(number, error, std::move(lease));
        });
    start(each.acquire, each.end, as_one_lease([last_word](error_code error, AcquireResult result) {
            std::exchange(last_word->say, nullptr)(error, std::move(result.lease));
          }));
  }
  // A pending alarm would keep the client's context running.
  if (errand.no_deadline_left) {
    asio::dispatch(strand_, [self = shared_from_this()] { self->set_alarm(); });
  }
}

/// The caller holds the mutex.
KeptLock::Waiter KeptLock::take_waiter(Id id, Errand& errand) {
  auto waiter = waiters_.extract(id);
  const Deadline deadline = waiter.mapped().deadline;
  if (!deadline.is_never()) {
    deadlines_.erase({deadline.time_point(), id});
    errand.no_deadline_left = deadlines_.empty();
  }
  return std::move(waiter.mapped());
}

// -- Cancellations and deadlines ------------------------------------------------------------------

void KeptLock::limit(Id id, const CancellationPtr& cancellation, Deadline deadline) {
  if (cancellation && cancellation->requested()) {
    return give_up(id, asio::error::operation_aborted);
  }
  if (cancellation) {
    cancellation->on_request(this, [weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) self->give_up(id, asio::error::operation_aborted);
    });
  }
  if (deadline.time_point() < alarm_at_) set_alarm();
}

void KeptLock::give_up(Id id, error_code error) {
  Lock lock{mutex_};
  const auto [waited, line] = order_.leave(id);
  if (!waited) return;
  bool stood = order_.held();
  bool somebody_ahead = stood;
  std::optional<Participant> nearest;
  // The stand-ins know what is ahead of the waiter.
  for (const auto& [number, each] : in_line_) {
    const AcquirePtr acquire = each.acquire.lock();
    if (!acquire) continue;
    stood = stood || acquire->has_queued;
    somebody_ahead = somebody_ahead || acquire->somebody_ahead;
    if (!nearest && acquire->nearest) nearest = *acquire->nearest;
  }
  Errand errand = begin_errand(line);
  Waiter waiter = take_waiter(id, errand);
  lock.unlock();

  // Where the client is alone there are no stand-ins: the present node is this client's.
  if (stood && !nearest) {
    nearest = LocalQueue::of(holders_of(*waiter.spec))->participant(name_of(node_path_));
  }
  AcquireResult result{.blocked_by = std::move(nearest)};
  if (error == Errc::deadline_exceeded) {
    const bool connected = is_connected(waiter.spec->client.connection_state());
    result.reason = why_not_acquired(somebody_ahead || result.blocked_by, connected);
    // The caller gets the reason in both cases. The observer distinguishes an acquire that was late
    // in the queue (no error) from one that never entered it.
    if (stood) error.clear();
  }
  run(std::move(errand));
  complete(std::move(waiter), error, std::move(result));
}

void KeptLock::set_alarm() {
  constexpr auto never = Deadline::Clock::time_point::max();
  {
    const std::lock_guard lock{mutex_};
    alarm_at_ = deadlines_.empty() ? never : deadlines_.begin()->first;
  }
  if (alarm_at_ == never && !alarm_) return;
  if (!alarm_) alarm_ = std::make_unique<asio::steady_timer>(strand_);
  alarm_->cancel();
  if (alarm_at_ == never) return;
  alarm_->expires_at(alarm_at_);
  alarm_->async_wait([weak = weak_from_this()](error_code cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled) self->on_alarm();
  });
}

void KeptLock::on_alarm() {
  // give_up() locks the mutex, so the late waiters are collected first.
  std::vector<Id> late;
  {
    const std::lock_guard lock{mutex_};
    const auto now = Deadline::Clock::now();
    for (const auto& [time, id] : deadlines_) {
      if (time > now) break;
      late.push_back(id);
    }
  }
  for (const Id id : late) give_up(id, Errc::deadline_exceeded);
  set_alarm();
}

}  // namespace custodian::recipes_detail
