// The waiters of a kept lock, and their stand-ins in the queue: see kept_lock.cpp.

#include <boost/asio/dispatch.hpp>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "kept/kept_lock.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

void KeptLock::abandon() {
  // Destroyed after the mutex is unlocked: the destructor of a handler runs other code.
  std::map<Id, Waiter> waiters;
  std::pair<detail::LockNodePtr, detail::LockNodePtr> nodes;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  keeping_is_over_ = true;
  waiters = take_all();
  for (const auto& [id, waiter] : waiters) static_cast<void>(order_.leave(id));
  // The client has no node any more.
  static_cast<void>(order_.on_idle_gone());
  nodes = {std::move(idle_), std::move(released_)};
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
  acquire->attempt = [self = self()](const AcquirePtr& stand_in) {
    self->hear_newcomers(*stand_in->spec);
    self->attempt_(stand_in);
  };
  acquire->shows_nearest = true;
  acquire->for_others = this;
  // If there is another stand-in, the listing of this one shows that one, so it is of no use.
  acquire->watches_queue =
      keep_idle_for_.count() > 0 && record_.forecast().keeps_next() && in_line_.empty();
  NewStandIn stand_in{.number = ++last_in_line_,
                      .acquire = acquire,
                      .end = std::make_shared<Cancellation>(spec->client.core())};
  in_line_.emplace(stand_in.number, StandIn{stand_in.acquire, stand_in.end});
  return stand_in;
}

/// Called when the first stand-in starts. From then on newcomers of this client are noticed, since
/// they make the listings of the stand-ins out of date.
void KeptLock::hear_newcomers(const LockSpec& spec) {
  if (keep_idle_for_.count() == 0 || std::exchange(hears_newcomers_, true)) return;
  Client{spec.client.share()}.use_service<Newcomers>().add(spec.path, weak());
}

void KeptLock::run(Errand errand) {
  for (const CancellationPtr& each : errand.leave) each->request();
  for (const NewStandIn& each : errand.stand) {
    // Captures the number, and not the acquire, because the acquire owns this function.
    const auto last_word = std::make_shared<LastWord>(
        each.acquire->spec, [self = self(), number = each.number](error_code error, Lease lease) {
          self->on_acquired(number, error, std::move(lease));
        });
    start(each.acquire, each.end, as_one_lease([last_word](error_code error, AcquireResult result) {
            (*last_word)(error, std::move(result.lease));
          }));
  }
  // When no deadline is left the alarm is cancelled: a pending one would keep the client's context
  // running.
  if (errand.no_deadline_left) {
    asio::dispatch(strand_, [self = self()] { self->set_alarm(); });
  }
}

/// The caller holds the mutex.
KeptLock::Waiter KeptLock::take_waiter(Id id, Errand& errand) {
  Waiter waiter = LocalWaiters::take_waiter(id);
  if (!waiter.deadline.is_never()) errand.no_deadline_left = deadlines_.empty();
  return waiter;
}

void KeptLock::give_up(Id id, error_code error) {
  Lock lock{mutex_};
  const auto [waited, line] = order_.leave(id);
  if (!waited) return;
  Sight sight{.stood = order_.held(), .somebody_ahead = order_.held()};
  // The stand-ins know which contender is ahead of the waiter.
  for (const auto& [number, each] : in_line_) sight.add(each.acquire);
  Errand errand = begin_errand(line);
  Waiter waiter = take_waiter(id, errand);
  lock.unlock();

  // A client that is alone has no stand-ins: its own present node is ahead of the waiter.
  if (sight.stood && !sight.nearest) {
    sight.nearest = LocalQueue::of(holders_of(*waiter.spec))->participant(name_of(node_path_));
  }
  run(std::move(errand));
  complete_late(std::move(waiter), error, std::move(sight));
}

}  // namespace custodian::recipes_detail
