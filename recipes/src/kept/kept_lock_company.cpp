// Whether a client is alone with its lock, and what ends the keeping of a node: see kept_lock.cpp.

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "kept/kept_lock.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// -- Is the client alone? -------------------------------------------------------------------------

void KeptLock::wait_for_company(Tenure tenure) {
  const auto core = core_.lock();
  if (!core) return;
  start_wait(core, nullptr, watch_->state(),
             [weak = weak(), tenure](error_code error, WatchEventType /*type*/) {
               if (error == asio::error::operation_aborted) return;
               const auto self = weak.lock();
               // An error in place of the event means that the session has ended.
               const auto why = error ? KeptLockEnd::unusable : KeptLockEnd::wanted;
               if (self && self->newest_ == tenure) self->end_keeping(why);
             });
}

void KeptLock::list() {
  const auto core = core_.lock();
  if (!core) return;
  listing_ = std::make_shared<Cancellation>(core);
  // Never repeated: after the loss of a connection the listing would come too late.
  const OperationOptions once{Deadline::never(), RetryPolicy::none()};
  start_children_and_watch(
      core, listing_, std::string{parent_of(node_path_)}, once,
      [weak = weak(), listing = listing_](error_code error, Children children, Watch watch) {
        const auto self = weak.lock();
        if (!self || self->listing_ != listing) return;
        self->listing_.reset();
        self->watch_ = std::make_shared<Watch>(std::move(watch));
        self->on_listed(error, children.names);
      });
}

void KeptLock::on_listed(const error_code& error, const std::vector<std::string>& names) {
  if (error) return end_listing(false, KeptLockEnd::unusable);
  if (names.size() == 1 && names.front() == name_of(node_path_)) return end_listing(true);
  const bool all_own =
      std::ranges::all_of(names, [&](const auto& each) { return listed_->has(each); });
  if (listed_again_ || !all_own) return end_listing(false);
  // The stand-ins leave, and the next listing travels behind their deletes.
  listed_again_ = true;
  Lock lock{mutex_};
  const bool none = order_.in_line() == 0;
  Errand errand = begin_errand(order_.dismiss_stand_ins());
  lock.unlock();
  run(std::move(errand));
  if (none) list();
}

/// `why` is the reason not to keep the node, if the client is not alone.
void KeptLock::end_listing(bool alone, KeptLockEnd why) {
  listed_.reset();
  Lock lock{mutex_};
  alone = alone && !keeping_is_over_;
  if (!alone) record_.end(core_, why);
  detail::LockNodePtr node = std::move(released_);
  const bool sound = node && detail::may_be_passed_on(node);
  TurnOrder::Next next = order_.on_listed(alone, node != nullptr, sound);
  settle(std::move(lock), std::move(next), std::move(node));
  if (alone) wait_for_company(newest_);
}

void KeptLock::on_newcomer(ContenderKind /*kind*/) {
  why_over_ = KeptLockEnd::own_contender;
  keeping_is_over_ = true;
  {
    const std::lock_guard lock{mutex_};
    outrun_ = last_in_line_;
  }
  end_keeping(KeptLockEnd::own_contender);
}

// -- The end of keeping ---------------------------------------------------------------------------

void KeptLock::end_keeping(KeptLockEnd reason) {
  // Set before the strand locks the mutex, for which it may have to wait long while callers take
  // and return the node in a loop.
  why_over_ = reason;
  keeping_is_over_ = true;
  Lock lock{mutex_};
  record_.end(core_, reason);
  detail::LockNodePtr node;
  TurnOrder::Line line;
  if (idle_) {
    line = order_.on_idle_gone();
    node = std::move(idle_);
  } else if (released_) {
    line = order_.on_listed(false, true, false).line;
    node = std::move(released_);
  } else {
    line = order_.on_company();
  }
  Errand errand = begin_errand(line);
  lock.unlock();
  // The node goes first, so that the waiters' stand-ins queue behind its delete, unless the caller
  // owns the node, too.
  node.reset();
  run(std::move(errand));
}

void KeptLock::close() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  end_keeping(KeptLockEnd::closed);
}

/// Warns of a holder that keeps waiters waiting, as LocalQueue does, which knows no waiters without
/// a stand-in. The caller holds the mutex.
void KeptLock::warn_of_long_hold(Time now) {
  if (turns_ != turns_seen_ || waiters_.empty()) {
    turns_seen_ = turns_;
    seen_at_ = now;
    return;
  }
  const Client& client = waiters_.begin()->second.spec->client;
  if (seen_at_ == Time::max() || now - seen_at_ < client.session().timeout) return;
  seen_at_ = Time::max();  // once for each holder
  client.log(LogLevel::warning,
             "an acquire of " + waiters_.begin()->second.spec->path +
                 " waits behind a holder of the same client, for longer than its session timeout. "
                 "If the task that holds it is the one that waits, it waits for itself: let it use "
                 "acquire(lease), or release first");
}

bool KeptLock::sweep(Time now) {
  Lock lock{mutex_};
  record_.look(now);
  warn_of_long_hold(now);
  if (const auto core = core_.lock()) record_.tell_reuses(core);
  const bool is_old = record_.is_old(now);
  const bool is_unused = idle_ && record_.unused_for(now) >= keep_idle_for_;
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

}  // namespace custodian::recipes_detail
