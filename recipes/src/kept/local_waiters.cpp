#include "kept/local_waiters.hpp"

#include <unistd.h>

#include <boost/asio/error.hpp>
#include <vector>

#include "acquire/not_acquired.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

LocalWaiters::LocalWaiters(const Client& client)
    : strand_{client.get_executor()},
      process_{::getpid()},
      under_way_{AcquiresUnderWay::of(client.core()).number()} {}

LocalWaiters::~LocalWaiters() {
  // In the child of a fork mutexes may be locked for ever.
  if (::getpid() == process_) return;
  [[maybe_unused]] const auto* const leaked = alarm_.release();
}

bool LocalWaiters::may_wait(const WaitLimit& wait_limit, const AcquireOptions& options) {
  return !wait_limit.try_once && !wait_limit.max_unreachable && !options.on_position &&
         !options.on_requeued && options.requeue == RequeuePolicy::queue_again &&
         !options.detect_deadlock;
}

void LocalWaiters::add_waiter(Id id, Waiter waiter) {
  if (!waiter.deadline.is_never()) deadlines_.emplace(waiter.deadline.time_point(), id);
  waiter.under_way = AcquiresUnderWay::Entry{under_way_};
  waiters_.emplace(id, std::move(waiter));
}

LocalWaiters::Waiter LocalWaiters::take_waiter(Id id) {
  auto waiter = waiters_.extract(id);
  const Deadline deadline = waiter.mapped().deadline;
  if (!deadline.is_never()) deadlines_.erase({deadline.time_point(), id});
  return std::move(waiter.mapped());
}

std::map<LocalWaiters::Id, LocalWaiters::Waiter> LocalWaiters::take_all() {
  deadlines_.clear();
  return std::exchange(waiters_, {});
}

void LocalWaiters::complete(Waiter waiter, error_code error, AcquireResult result) {
  waiter.under_way.end();
  waiter.observed.end({}, error, result ? 1 : 0);
  if (result.reason != NotAcquired::none) error.clear();
  std::move(waiter.handler)(error, std::move(result));
}

// -- Cancellations and deadlines ------------------------------------------------------------------

void LocalWaiters::limit(Id id, const CancellationPtr& cancellation, Deadline deadline) {
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

void LocalWaiters::Sight::add(const std::weak_ptr<Acquire>& acquire) {
  const AcquirePtr alive = acquire.lock();
  if (!alive) return;
  stood = stood || alive->has_queued;
  somebody_ahead = somebody_ahead || alive->somebody_ahead;
  if (!nearest && alive->nearest) nearest = *alive->nearest;
}

void LocalWaiters::complete_late(Waiter waiter, error_code error, Sight sight) {
  AcquireResult result{.blocked_by = std::move(sight.nearest)};
  if (error == Errc::deadline_exceeded) {
    const bool connected = is_connected(waiter.spec->client.connection_state());
    result.reason = why_not_acquired(sight.somebody_ahead || result.blocked_by, connected);
    // In both cases the result has the reason. The observer distinguishes an acquire that was late
    // in the queue (no error) from one that never entered it.
    if (sight.stood) error.clear();
  }
  complete(std::move(waiter), error, std::move(result));
}

void LocalWaiters::set_alarm() {
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

void LocalWaiters::on_alarm() {
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

// -- The acquires that stand in for them ----------------------------------------------------------

LastWord::~LastWord() {
  if (say_ && spec_->client.unusable() != Errc::forked) say_(Errc::closed, Lease{});
}

}  // namespace custodian::recipes_detail
