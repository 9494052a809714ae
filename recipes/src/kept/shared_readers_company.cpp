// Whether a writer is behind the shared readers' newest node, and what ends the keeping of one: see
// shared_readers.cpp.

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <ranges>
#include <utility>

#include "custodian/authoring/operations.hpp"
#include "kept/shared_readers.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// A queue that changes all the time is listed no more often than this.
constexpr std::chrono::milliseconds shortest_pause{10};

/// The number of the last writer; nothing if there is none.
std::optional<Sequence> last_writer_of(const Listing& listing) {
  for (const ContenderName& each : listing.contenders() | std::views::reverse) {
    if (each.kind == ContenderKind::exclusive) return each.sequence;
  }
  return std::nullopt;
}

}  // namespace

// -- Listings -------------------------------------------------------------------------------------

void SharedReaders::list() {
  const auto core = core_.lock();
  if (!core) return;
  listing_ = std::make_shared<Cancellation>(core);
  listed_at_ = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock{mutex_};
    order_.on_asked();
  }
  // Never repeated: after the loss of a connection the listing would come too late.
  const OperationOptions once{Deadline::never(), RetryPolicy::none()};
  start_children_and_watch(
      core, listing_, path_, once,
      [weak = weak(), listing = listing_](error_code error, Children children, Watch watch) {
        const auto self = weak.lock();
        // Another listing was requested since, or a writer of this client has come.
        if (!self || self->listing_ != listing) return;
        self->listing_.reset();
        self->watch_ = std::make_shared<Watch>(std::move(watch));
        self->on_listed(error, std::move(children.names));
      });
}

void SharedReaders::on_listed(const error_code& error, std::vector<std::string> names) {
  const Listing listing{std::move(names), rule_};
  const auto core = core_.lock();
  if (core) listed_on_ = detail::connection_number(*core);
  Lock lock{mutex_};
  const Node newest = order_.newest();
  // A contender without a readable number may be a writer at any place in the queue.
  const bool known = !error && listing.malformed().empty() && is_sound();
  const ShareOrder::Next next =
      known ? order_.on_listed(last_writer_of(listing)) : order_.on_not_listed();
  if (order_.is_retired(newest)) {
    record_.end(core_, known ? KeptLockEnd::wanted : KeptLockEnd::unusable);
  }
  Errand errand = begin_errand(next);
  lock.unlock();
  run(std::move(errand));
  if (known) wait_for_change();
}

void SharedReaders::wait_for_change() {
  const auto core = core_.lock();
  if (!core) return;
  start_wait(core, nullptr, watch_->state(),
             [weak = weak(), watch = std::weak_ptr{watch_}](error_code error, WatchEventType) {
               if (error == asio::error::operation_aborted) return;
               const auto self = weak.lock();
               // An error in place of the event means that the session has ended.
               if (self && self->watch_ == watch.lock()) self->on_changed(error.failed());
             });
}

void SharedReaders::on_changed(bool session_is_over) {
  // Set before the strand locks the mutex, for which it may have to wait long while callers take
  // and return the node in a loop.
  changed_ = true;
  Lock lock{mutex_};
  order_.on_changed();
  const bool helps = !session_is_over && order_.listing_helps();
  changed_ = false;
  lock.unlock();
  if (helps && !listing_) list_soon();
}

void SharedReaders::list_soon() {
  const Time next = listed_at_ + shortest_pause;
  if (next <= std::chrono::steady_clock::now()) return list();
  if (!pause_) pause_ = std::make_unique<asio::steady_timer>(strand_);
  pause_->expires_at(next);
  pause_->async_wait([weak = weak()](error_code cancelled) {
    const auto self = weak.lock();
    if (!self || cancelled || self->listing_) return;
    Lock lock{self->mutex_};
    const bool helps = self->order_.listing_helps();
    lock.unlock();
    if (helps) self->list();
  });
}

void SharedReaders::on_newcomer(ContenderKind kind) {
  if (kind == ContenderKind::shared) return;
  changed_ = true;
  Lock lock{mutex_};
  const ShareOrder::Next next = order_.on_own_writer();
  changed_ = false;
  record_.end(core_, KeptLockEnd::own_contender);
  Errand errand = begin_errand(next);
  lock.unlock();
  run(std::move(errand));
}

// -- The end of keeping ---------------------------------------------------------------------------

void SharedReaders::end_keeping(KeptLockEnd reason) {
  Lock lock{mutex_};
  const Node newest = order_.newest();
  lock.unlock();
  retire(newest, reason);
}

void SharedReaders::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  end_keeping(KeptLockEnd::closed);
}

bool SharedReaders::sweep(Time now) {
  Lock lock{mutex_};
  record_.look(now);
  if (const auto core = core_.lock()) record_.tell_reuses(core);
  const bool is_old = record_.is_old(now);
  const bool is_unused =
      order_.is_idle(order_.newest()) && record_.unused_for(now) >= keep_idle_for_;
  const bool remembered =
      record_.keeps() || !waiters_.empty() || record_.unused_for(now) < KeptRecord::longest;
  lock.unlock();
  if (is_old) {
    end_keeping(KeptLockEnd::aged);
  } else if (is_unused) {
    end_keeping(KeptLockEnd::unused);
  }
  return remembered;
}

void SharedReaders::abandon() {
  // Destroyed after the mutex is unlocked: the destructor of a handler runs other code.
  std::map<Id, Waiter> waiters;
  std::map<Node, Place> places;
  detail::LockNodePtr newest;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  waiters = take_all();
  for (const auto& [id, waiter] : waiters) static_cast<void>(order_.leave(id));
  places.swap(places_);
  newest = std::move(newest_);
}

}  // namespace custodian::recipes_detail
