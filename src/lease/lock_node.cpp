#include "lease/lock_node.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "client/queued_node.hpp"
#include "custodian/authoring/operations.hpp"
#include "lease/holder.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

LockNode::Time end_of(LockNode::Time now, std::chrono::nanoseconds at_most) {
  return at_most < LockNode::Time::max() - now ? now + at_most : LockNode::Time::max();
}

}  // namespace

LockNodePtr LockNode::make(CorePtr core, std::shared_ptr<ClientSession> session, OwnedNode node,
                           NodeData data, const LeaseOptions& options, ObservedLockPtr observed) {
  LockNodePtr held{new LockNode{std::move(core), std::move(session), std::move(node),
                                std::move(data), options, std::move(observed)}};
  held->core_->count_hold(+1);
  if (const QueuedNodePtr& line = held->node_.in_line()) {
    line->on_missing = [weak = held->weak_from_this()] {
      if (const auto self = weak.lock()) self->lose(LossReason::node_deleted);
    };
  }
  held->session_->add(held);
  held->wait_for_event();
  held->limit();
  held->on_session_state();
  held->session_->on_lease();
  return held;
}

LockNode::LockNode(CorePtr core, std::shared_ptr<ClientSession> session, OwnedNode node,
                   NodeData data, const LeaseOptions& options, ObservedLockPtr observed)
    : core_{std::move(core)},
      session_{std::move(session)},
      node_{std::move(node)},
      data_{std::move(data)},
      full_path_{core_->prefix().add(node_.path())},
      policy_{options.loss_policy.value_or(core_->options().loss_policy)},
      ends_at_{options.hold_at_most ? end_of(core_->now(), *options.hold_at_most) : Time::max()},
      observed_{std::move(observed)} {}

LockNode::~LockNode() {
  if (core_->forked()) {
    // Mutexes may be locked for ever in the child of a fork, so the timer is leaked there. Leases
    // leak their holders, and so their nodes, for the same reason.
    [[maybe_unused]] const auto* const leaked = timer_.release();
    return;
  }
  if (end_of_look_) end_of_look_->request();
  set_idle(false);
  session_->remove(*this);
  core_->count_hold(-1);
}

// -- What is known on any thread ------------------------------------------------------------------

LockNode::Time LockNode::valid_until() const noexcept {
  return std::min(session_->valid_until(), ends_at_);
}

LeaseState LockNode::state() noexcept {
  if (loss_ != LossReason::none) return LeaseState::lost;
  const Time now = core_->now();
  if (now < valid_until()) {
    return session_->connected() ? LeaseState::held : LeaseState::suspended;
  }
  // A loss that was reported once is final, even if an answer that is on its way would extend the
  // lease. The strand notifies the listeners.
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

LossReason LockNode::loss_reason() noexcept {
  static_cast<void>(state());
  return loss_;
}

// -- One holder after another ---------------------------------------------------------------------

bool LockNode::may_be_passed_on() noexcept {
  // The clock is read last, so that nothing between the reading and the answer takes time.
  return !has_passing_ended() && session_->connected() &&
         core_->now() < std::min(session_->comfortable_until(), ends_at_);
}

HolderPtr LockNode::next_holder(Events events) {
  set_idle(false);
  auto hold = std::make_shared<Holder>(shared_from_this(), holds_++, node_.stat().czxid, events);
  {
    const std::lock_guard lock{mutex_};
    const auto is_over = [](const auto& weak) { return weak.expired(); };
    std::erase_if(earlier_, is_over);
    if (!is_over(newest_)) earlier_.push_back(std::move(newest_));
    newest_ = hold;
  }
  // The new holder was not notified of a loss before `newest_` was set, so it is notified now.
  if (state() != LeaseState::held) core_->on_strand([self = shared_from_this()] { self->tell(); });
  return hold;
}

void LockNode::set_idle(bool idle) noexcept {
  if (idle_.exchange(idle) != idle) core_->count_idle(idle ? +1 : -1);
}

void LockNode::end_passing() {
  if (passing_has_ended_.exchange(true)) return;
  core_->on_strand([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->passing_ended_) self->passing_ended_();
  });
}

std::vector<HolderPtr> LockNode::holders() const {
  std::vector<HolderPtr> all;
  const auto add = [&](const std::weak_ptr<Holder>& weak) {
    if (HolderPtr hold = weak.lock()) all.push_back(std::move(hold));
  };
  const std::lock_guard lock{mutex_};
  add(newest_);
  for (const auto& each : earlier_) add(each);
  return all;
}

// -- What happens on the strand -------------------------------------------------------------------

void LockNode::lose(LossReason reason) {
  LossReason none = LossReason::none;
  loss_.compare_exchange_strong(none, reason);
  tell();
}

void LockNode::on_session_state() {
  if (!session_->connected()) end_passing();
  if (policy_ == LossPolicy::on_suspended && !session_->connected()) lose(LossReason::suspended);
  tell();
}

void LockNode::on_check_failed(const error_code& error) {
  if (error == ServerErrc::no_node) return lose(LossReason::node_deleted);
  // Whether the node exists is unknown: the client may lack the permission to read it, for example.
  checkable_ = false;
  core_->log(LogLevel::warning, "cannot check " + path() + ": " + error.message() +
                                    "; its deletion by somebody else would not be noticed");
}

void LockNode::tell() {
  const auto self = shared_from_this();
  const LeaseState now = state();
  if (now == LeaseState::lost) on_lost();
  for (const HolderPtr& hold : holders()) hold->tell(now);
}

void LockNode::on_lost() {
  if (std::exchange(loss_told_, true)) return;
  // An idle node has no holder that loses anything.
  if (!idle_) {
    core_->log(LogLevel::warning,
               "the lease on " + path() + " is lost: " + std::string{to_string(loss_.load())});
  }
  if (timer_ && loss_ != LossReason::held_too_long) timer_->cancel();
  node_.forfeit();
  end_passing();
}

// -- The node, and the writers of its data --------------------------------------------------------

void LockNode::wait_for_event() {
  if (!node_.watch()) return;
  start_wait(core_, nullptr, node_.watch().state(),
             [weak = weak_from_this()](error_code error, WatchEventType type) {
               const auto self = weak.lock();
               if (!self || error) return;
               if (type == WatchEventType::deleted) return self->lose(LossReason::node_deleted);
               self->look();
             });
}

void LockNode::watch() {
  // A contender that has waited for the lock may have a watch already.
  const bool is_watched = node_.watch() && !is_over(node_.watch().state());
  if (!is_watched) look();
}

void LockNode::look() {
  if (is_lost() || std::exchange(looking_, true)) return;
  if (!end_of_look_) end_of_look_ = std::make_shared<Cancellation>(core_);
  const OperationOptions patient{Deadline::never(), core_->options().retry.unlimited()};
  start_get_and_watch(core_, end_of_look_, path(), patient,
                      [weak = weak_from_this()](error_code error, GetResult found, Watch watch) {
                        const auto self = weak.lock();
                        if (self) self->on_look(error, found, std::move(watch));
                      });
}

void LockNode::on_look(const error_code& error, const GetResult& found, Watch watch) {
  looking_ = false;
  if (error == ServerErrc::no_node) return lose(LossReason::node_deleted);
  if (is_lost()) return;
  if (error) {
    if (error != Errc::closed) {
      core_->log(LogLevel::warning,
                 "cannot read " + path() + ": " + error.message() +
                     "; a request to release it is not noticed, and its deletion "
                     "by somebody else by a beat only");
    }
    return;
  }
  node_.set_watch(std::move(watch));
  wait_for_event();
  if (maybe_ && found.data == *maybe_) data_ = std::exchange(maybe_, nullptr);
  const bool is_request = found.data == revoke_message;
  if (is_request) {
    request_ = found.stat.mzxid;
    end_passing();
  }
  // Listeners that came after the last request are notified of it, too.
  if (request_ != 0) {
    for (const HolderPtr& hold : holders()) hold->tell_revocation(request_);
  }
  if (is_request) restore_data(found.stat.version);
}

// A request replaces the holder's identity. The identity is written back only over the request that
// was read: a later one has another version, and its event, or the failure, causes another read.
void LockNode::restore_data(std::int32_t version) {
  if (!data_ || *data_ == revoke_message || !restorable_ || std::exchange(restoring_, true)) return;
  Transaction writes{set(path(), *data_, version)};
  // An odd version says afterwards that there was a request (revocation.hpp).
  const bool would_be_even = version % 2 != 0;
  if (would_be_even) writes.push_back(set(path(), *data_));
  const OperationOptions until_known{Deadline::never(), core_->options().retry.unlimited()};
  start_commit(core_, end_of_look_, std::move(writes), until_known,
               [weak = weak_from_this()](error_code error, const auto& /*results*/) {
                 if (const auto self = weak.lock()) self->on_data_restored(error);
               });
}

void LockNode::on_data_restored(const error_code& error) {
  restoring_ = false;
  if (!error || is_lost()) return;  // after a success the watch fires, and look() reads again
  if (error == ServerErrc::no_node) return lose(LossReason::node_deleted);
  if (error == ServerErrc::bad_version || error == ErrorCondition::outcome_unknown) return look();
  restorable_ = false;
  if (error == Errc::closed || error == asio::error::operation_aborted) return;
  core_->log(LogLevel::warning, "cannot write the identity back into " + path() + ": " +
                                    error.message() + "; a request to release it has replaced it");
}

const ChangeLinePtr& LockNode::changes() {
  if (!changes_) changes_ = std::make_shared<ChangeLine>();
  return changes_;
}

// -- A lease with a maximum time ------------------------------------------------------------------

void LockNode::limit() {
  if (ends_at_ == Time::max()) return;
  timer_ = std::make_unique<BootTimer>(core_->boot_timers());
  timer_->set(ends_at_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->lose(LossReason::held_too_long);
    // on_holder_told() releases the lock when the holder has been notified; a holder that blocks
    // cannot keep it longer than this.
    constexpr std::chrono::seconds grace{1};
    self->timer_->set(self->core_->now() + grace, [weak] {
      if (const auto still_there = weak.lock()) still_there->delete_node();
    });
  });
}

void LockNode::on_holder_told() {
  if (loss_ == LossReason::held_too_long) delete_node();
}

void LockNode::delete_node() {
  // The holder may keep its lease, so the delete cannot wait for the lease to be destroyed.
  timer_->cancel();
  core_->deletes().add(full_path_, node_.stat().ephemeral_owner, nullptr, node_.in_line());
}

}  // namespace custodian::detail
