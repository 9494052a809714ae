#include "hold.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "custodian/operation_options.hpp"
#include "line_node.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

Hold::Time end_of(std::chrono::nanoseconds at_most) {
  const auto now = BootClock::now();
  return at_most < Hold::Time::max() - now ? now + at_most : Hold::Time::max();
}

}  // namespace

HoldPtr Hold::make(std::shared_ptr<ClientCore> core, std::shared_ptr<ClientSession> session,
                   OwnNode node, const LeaseOptions& options) {
  HoldPtr hold{new Hold{std::move(core), std::move(session), std::move(node), options}};
  hold->core_->count_hold(+1);
  if (const LineNodePtr& line = hold->node_.in_line()) {
    line->on_missing = [weak = hold->weak_from_this()] {
      if (const auto self = weak.lock()) self->lose(LossReason::node_deleted);
    };
  }
  hold->session_->add(hold);
  hold->wait_for_node();
  hold->limit();
  hold->on_session_state();
  hold->session_->on_lease();
  return hold;
}

Hold::Hold(std::shared_ptr<ClientCore> core, std::shared_ptr<ClientSession> session, OwnNode node,
           const LeaseOptions& options)
    : core_{std::move(core)},
      session_{std::move(session)},
      node_{std::move(node)},
      full_path_{core_->prefix().add(node_.path())},
      policy_{options.loss_policy.value_or(core_->options().loss_policy)},
      ends_at_{options.hold_at_most ? end_of(*options.hold_at_most) : Time::max()} {}

Hold::~Hold() {
  if (core_->forked()) {
    // Where mutexes may be locked for ever.
    [[maybe_unused]] const auto* const leaked = timer_.release();
    return;
  }
  if (end_of_look_) end_of_look_->request();
  session_->remove(*this);
  core_->count_hold(-1);
  if (!waiters_.used()) return;
  core_->on_strand(
      [waiters = std::move(waiters_)]() mutable { waiters.abort(LeaseState::released); });
}

// -- What is known on any thread ------------------------------------------------------------------

FencingToken Hold::token() const noexcept {
  return {core_->options().fencing_epoch, node_.stat().czxid};
}

Hold::Time Hold::valid_until() const noexcept {
  return std::min(session_->valid_until(), ends_at_);
}

LeaseState Hold::state() noexcept {
  if (loss_ != LossReason::none) return LeaseState::lost;
  const Time now = BootClock::now();
  if (now < valid_until()) {
    return session_->connected() ? LeaseState::held : LeaseState::suspended;
  }
  // Said once, it is so for ever, though an answer may be on its way; the strand tells the others.
  const LossReason reason = now >= ends_at_ ? LossReason::held_too_long : LossReason::lease_expired;
  LossReason none = LossReason::none;
  loss_.compare_exchange_strong(none, reason);
  if (!core_->forked()) {
    asio::post(core_->strand(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->tell();
      self->session_->give_up_if_run_out();
    });
  }
  return LeaseState::lost;
}

LossReason Hold::loss_reason() noexcept {
  static_cast<void>(state());
  return loss_;
}

Subscription Hold::listen(LeaseListener listener) {
  auto registration = std::make_shared<LeaseListener>(std::move(listener));
  const std::lock_guard lock{mutex_};
  listeners_.push_back(registration);
  return Subscription{std::move(registration)};
}

// -- What happens on the strand -------------------------------------------------------------------

void Hold::lose(LossReason reason) {
  LossReason none = LossReason::none;
  loss_.compare_exchange_strong(none, reason);
  tell();
}

void Hold::on_session_state() {
  if (policy_ == LossPolicy::on_suspended && !session_->connected()) lose(LossReason::suspended);
  tell();
}

void Hold::on_check_failed(const error_code& error) {
  if (error == ServerErrc::no_node) return lose(LossReason::node_deleted);
  // It cannot be said whether it is there, for want of permission to read it, for one.
  checkable_ = false;
  core_->log(LogLevel::warning, "cannot check " + node() + ": " + error.message() +
                                    "; its deletion by somebody else would not be noticed");
}

// -- The node, and who writes into it -------------------------------------------------------------

Subscription Hold::make_revocable(RevocationListener listener) {
  if (core_->forked()) return {};
  auto registration = std::make_shared<RevocationListener>(std::move(listener));
  core_->on_strand([hold = weak_from_this(), weak = std::weak_ptr{registration}] {
    const auto self = hold.lock();
    if (!self) return;
    std::erase_if(self->revocables_, [](const auto& each) { return each.listener.expired(); });
    self->revocables_.push_back({weak});
    self->look_at_node();
  });
  return Subscription{std::move(registration)};
}

void Hold::wait_for_node() {
  if (!node_.watch()) return;
  start_wait(core_, nullptr, node_.watch().state(),
             [weak = weak_from_this()](error_code error, WatchEventType type) {
               const auto self = weak.lock();
               if (!self || error) return;
               if (type == WatchEventType::deleted) return self->lose(LossReason::node_deleted);
               self->look_at_node();
             });
}

void Hold::look_at_node() {
  if (is_lost() || std::exchange(looking_, true)) return;
  if (!end_of_look_) end_of_look_ = std::make_shared<Cancellation>(core_);
  const OperationOptions patient{Deadline::never(), core_->options().retry.unlimited()};
  start_get_and_watch(core_, end_of_look_, node(), patient,
                      [weak = weak_from_this()](error_code error, GetResult found, Watch watch) {
                        const auto self = weak.lock();
                        if (self) self->on_node(error, found, std::move(watch));
                      });
}

void Hold::on_node(const error_code& error, const GetResult& found, Watch watch) {
  looking_ = false;
  if (error == ServerErrc::no_node) return lose(LossReason::node_deleted);
  if (is_lost()) return;
  if (error) {
    if (error != Errc::closed) {
      core_->log(LogLevel::warning, "cannot read " + node() + ": " + error.message() +
                                        "; nobody will be told of a request to release it");
    }
    return;
  }
  node_.set_watch(std::move(watch));
  wait_for_node();
  if (found.data == revoke_message) tell_revocation(found);
}

void Hold::tell_revocation(const GetResult& found) {
  for (Revocable& each : revocables_) {
    if (std::exchange(each.told, found.stat.mzxid) == found.stat.mzxid) continue;
    core_->call_back([hold = weak_from_this(), weak = each.listener] {
      const auto listener = weak.lock();
      if (listener && !hold.expired()) (*listener)();
    });
  }
}

// -------------------------------------------------------------------------------------------------

void Hold::limit() {
  if (ends_at_ == Time::max()) return;
  timer_ = std::make_unique<asio::steady_timer>(core_->strand(), ends_at_ - BootClock::now());
  timer_->async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self || error) return;
    self->lose(LossReason::held_too_long);
    // tell_lost() lets the lock go when the holder has been told; a holder who will not listen
    // cannot keep it longer than this.
    constexpr std::chrono::seconds grace{1};
    self->timer_->expires_after(grace);
    self->timer_->async_wait([weak](error_code cancelled) {
      const auto still_there = weak.lock();
      if (still_there && !cancelled) still_there->delete_node();
    });
  });
}

void Hold::wait(LeaseState known, const CancellationPtr& cancellation,
                Handler<LeaseState> handler) {
  waiters_.wait(state(), known, cancellation, std::move(handler));
}

void Hold::tell() {
  const LeaseState now = state();
  if (std::exchange(told_, now) == now) return;
  const auto self = shared_from_this();
  if (now == LeaseState::lost) tell_lost();
  std::vector<std::weak_ptr<LeaseListener>> listeners;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(listeners_, [](const auto& each) { return each.expired(); });
    listeners = listeners_;
  }
  for (auto& weak : listeners) {
    core_->call_back([weak = std::move(weak), now] {
      if (const auto listener = weak.lock()) (*listener)(now);
    });
  }
  waiters_.tell(now);
}

void Hold::tell_lost() {
  core_->log(LogLevel::warning,
             "the lease on " + node() + " is lost: " + std::string{to_string(loss_.load())});
  if (timer_ && loss_ != LossReason::held_too_long) timer_->cancel();
  node_.forfeit();
  // Not behind other callbacks, which may be slow, where the executor has more than one thread.
  asio::post(core_->callback_executor(), [weak = weak_from_this()] {
    // Released by now, it was not lost any more.
    const auto self = weak.lock();
    if (!self) return;
    self->lost_.request_stop();
    if (self->loss_ != LossReason::held_too_long) return;
    self->core_->on_strand([self] { self->delete_node(); });
  });
}

void Hold::delete_node() {
  timer_->cancel();
  core_->deletes().add(full_path_, node_.stat().ephemeral_owner, nullptr, node_.in_line());
}

}  // namespace custodian::detail
