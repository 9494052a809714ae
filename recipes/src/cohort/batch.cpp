#include "cohort/batch.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <functional>

#include "acquire/contender.hpp"
#include "acquire/not_acquired.hpp"
#include "custodian/observer.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

using Ending = BatchOrder::Ending;

/// An operator who deletes a node means one contender; every other failure would be that of all.
/// One that was told to leave has nothing more to tell, but that the client has ended.
Ending ending_of(const error_code& error, bool leaving) {
  if (leaving && error != Errc::closed) return Ending::left;
  if (error == asio::error::operation_aborted) return Ending::left;
  return error == Errc::node_deleted ? Ending::failed_for_one : Ending::failed_for_all;
}

}  // namespace

Batch::Batch(const Client& client, int passes)
    : client_{client.share()},
      order_{passes},
      alarm_{std::make_unique<asio::steady_timer>(client.get_executor())} {}

Batch::~Batch() {
  if (client_.unusable() != Errc::forked) return;
  // In the child of a fork mutexes may be locked for ever.
  [[maybe_unused]] const auto* const leaked = alarm_.release();
}

bool Batch::may_enter(const WaitLimit& wait_limit, const AcquireOptions& options) {
  return !wait_limit.only_try && !wait_limit.max_unreachable && !options.on_position &&
         !options.on_requeued && options.requeue == RequeuePolicy::queue_again &&
         !options.lease.loss_policy && !options.lease.hold_at_most;
}

void Batch::enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
                  Handler<AcquireResult> handler) {
  if (const error_code error = spec->client.unusable()) {
    return std::move(handler)(error, AcquireResult{});
  }
  Batch& batch = *spec->batch;
  const auto began = spec->observed ? detail::now_of(spec->client.core()) : BootClock::time_point{};
  std::unique_lock lock{batch.mutex_};
  const auto [id, line] = batch.order_.enter();
  batch.waiters_.emplace(id, Waiter{std::move(handler), deadline, began});
  if (!deadline.is_never()) batch.deadlines_.emplace(deadline.time_point(), id);
  Errand errand = batch.begin_errand(spec, line);
  lock.unlock();

  run(spec, std::move(errand));
  if (!cancellation && deadline.is_never()) return;
  asio::dispatch(spec->client.get_executor(), [weak = std::weak_ptr{spec}, waiter = id, deadline,
                                               cancellation = std::move(cancellation)] {
    if (const LockSpecPtr alive = weak.lock()) limit(alive, waiter, cancellation, deadline);
  });
}

// -- Who has the lock -----------------------------------------------------------------------------

void Batch::on_acquired(const LockSpecPtr& spec, Number number, error_code error, Lease lease) {
  Batch& batch = *spec->batch;
  std::unique_lock lock{batch.mutex_};
  const bool leaving = batch.in_line_.extract(number).mapped().leaving;
  if (!lease) {
    const BatchOrder::Failure failure = batch.order_.on_ending(ending_of(error, leaving));
    Errand errand = batch.begin_errand(spec, failure.line);
    std::vector<Waiter> failed;
    for (const Id id : failure.failed) failed.push_back(batch.take(id, errand));
    lock.unlock();

    run(spec, std::move(errand));
    for (Waiter& each : failed) end(spec, std::move(each), error, AcquireResult{});
    return;
  }

  const BatchOrder::Next next = batch.order_.on_first();
  Errand errand = batch.begin_errand(spec, next.line);
  if (!next.holder) {
    lock.unlock();
    return run(spec, std::move(errand));
  }
  Waiter holder = batch.take(*next.holder, errand);
  const BatchOrder::Tenure tenure = batch.order_.tenure();
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

void Batch::on_done(const LockSpecPtr& spec, BatchOrder::Tenure tenure, detail::LockNodePtr node) {
  Batch& batch = *spec->batch;
  std::unique_lock lock{batch.mutex_};
  const bool sound = detail::may_be_passed_on(node);
  const BatchOrder::Next next = batch.order_.on_done(tenure, sound);
  Errand errand = batch.begin_errand(spec, next.line);
  if (!next.holder) {
    lock.unlock();
    // Who is in line for nobody leaves first; a lock that it is given all the same, it lets go of.
    return run(spec, std::move(errand));
  }
  Waiter holder = batch.take(*next.holder, errand);
  lock.unlock();

  run(spec, std::move(errand));
  end(spec, std::move(holder), {}, AcquireResult{.lease = detail::next_lease(node)});
}

void Batch::end(const LockSpecPtr& spec, Waiter waiter, error_code error, AcquireResult result) {
  observe_end(*spec, {}, waiter.began, error, result ? 1 : 0);
  if (result.reason != NotAcquired::none) error.clear();
  std::move(waiter.handler)(error, std::move(result));
}

// -- Who stands in line for them ------------------------------------------------------------------

Batch::Errand Batch::begin_errand(const LockSpecPtr& spec, BatchOrder::Line line) {
  Errand errand;
  switch (line) {
    case BatchOrder::Line::as_it_is: break;
    case BatchOrder::Line::leave:
      for (auto& [number, each] : in_line_) {
        each.leaving = true;
        errand.leave.push_back(each.end);
      }
      break;
    case BatchOrder::Line::stand:
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

/// Says how the acquire in line ended; also if its handler is destroyed unused, with its executor's
/// context.
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

void Batch::run(const LockSpecPtr& spec, Errand errand) {
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
  if (errand.no_deadline_left) {
    asio::dispatch(spec->client.get_executor(), [weak = std::weak_ptr{spec}] {
      if (const LockSpecPtr alive = weak.lock()) set_alarm(alive);
    });
  }
}

Batch::Waiter Batch::take(Id id, Errand& errand) {
  auto waiter = waiters_.extract(id);
  const Deadline deadline = waiter.mapped().deadline;
  if (!deadline.is_never()) {
    deadlines_.erase({deadline.time_point(), id});
    errand.no_deadline_left = deadlines_.empty();
  }
  return std::move(waiter.mapped());
}

// -- Who gives up ---------------------------------------------------------------------------------

void Batch::limit(const LockSpecPtr& spec, Id id, const CancellationPtr& cancellation,
                  Deadline deadline) {
  Batch& batch = *spec->batch;
  if (cancellation && cancellation->requested()) {
    return give_up(spec, id, asio::error::operation_aborted);
  }
  if (cancellation) {
    cancellation->on_request(&batch, [weak = std::weak_ptr{spec}, id] {
      if (const LockSpecPtr alive = weak.lock()) {
        give_up(alive, id, asio::error::operation_aborted);
      }
    });
  }
  if (deadline.time_point() < batch.alarm_at_) set_alarm(spec);
}

void Batch::give_up(const LockSpecPtr& spec, Id id, error_code error) {
  Batch& batch = *spec->batch;
  std::unique_lock lock{batch.mutex_};
  const auto [waited, line] = batch.order_.leave(id);
  if (!waited) return;
  bool stood = batch.order_.held();
  bool somebody_ahead = stood;
  std::optional<Participant> nearest;
  for (const auto& [number, each] : batch.in_line_) {
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
    // An observer still sees the difference.
    if (stood) error.clear();
  }
  Errand errand = batch.begin_errand(spec, line);
  Waiter waiter = batch.take(id, errand);
  lock.unlock();

  run(spec, std::move(errand));
  end(spec, std::move(waiter), error, std::move(result));
}

void Batch::set_alarm(const LockSpecPtr& spec) {
  Batch& batch = *spec->batch;
  {
    const std::lock_guard lock{batch.mutex_};
    batch.alarm_at_ = batch.deadlines_.empty() ? Time::max() : batch.deadlines_.begin()->first;
  }
  batch.alarm_->cancel();
  if (batch.alarm_at_ == Time::max()) return;
  batch.alarm_->expires_at(batch.alarm_at_);
  batch.alarm_->async_wait([weak = std::weak_ptr{spec}](error_code cancelled) {
    const LockSpecPtr alive = weak.lock();
    if (alive && !cancelled) on_alarm(alive);
  });
}

void Batch::on_alarm(const LockSpecPtr& spec) {
  Batch& batch = *spec->batch;
  std::vector<Id> late;
  {
    const std::lock_guard lock{batch.mutex_};
    const auto now = Deadline::Clock::now();
    for (const auto& [time, id] : batch.deadlines_) {
      if (time > now) break;
      late.push_back(id);
    }
  }
  for (const Id id : late) give_up(spec, id, Errc::deadline_exceeded);
  set_alarm(spec);
}

LockSpecPtr make_lock_spec_with_batch(const Client& client, std::string_view lock, const Rule& rule,
                                      ContenderKind kind, std::string path, LockOptions options,
                                      std::optional<ObservedAs> observed_as) {
  // Readers are in at once; and a number below zero is refused by make_lock_spec().
  const int passes = options.hand_off.passes();
  const bool batch =
      kind == ContenderKind::exclusive && passes >= 0 && options.hand_off != HandOff::strict();
  return make_lock_spec(client, lock, rule, kind, std::move(path), std::move(options), observed_as,
                        batch ? std::make_shared<Batch>(client, passes) : nullptr);
}

}  // namespace custodian::recipes_detail
