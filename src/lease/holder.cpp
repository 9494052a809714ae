#include "lease/holder.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "observe/observation.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

Holder::Holder(LockNodePtr node, std::int64_t number, std::int64_t czxid, Events events)
    : node_{std::move(node)},
      events_{events},
      token_{core()->options().fencing_epoch, czxid, number},
      since_{node_->observed() ? core()->now() : BootClock::time_point{}} {
  if (node_->observed() && events_ == Events::all) {
    core()->observation()->tell_lease_begun(node_->observed(), token_);
  }
}

Holder::~Holder() {
  // In the child of a fork, nothing is released: mutexes may be locked for ever.
  if (core()->forked()) return;
  if (node_->observed()) observe_release();
  if (states_.has_waiters()) {
    core()->on_strand(
        [waiters = states_.take_waiters()]() mutable { waiters.abort(LeaseState::released); });
  }
  // The node may own the client's core, and so the context that the function's executor refers to:
  // the core outlives the function.
  const CorePtr last = core();
  // The pointer is copied: the function may destroy the node, and the node owns the function.
  if (const auto pass_on = node_->pass_on()) (*pass_on)(std::move(node_));
}

Subscription Holder::make_revocable(RevocationListener listener) {
  if (core()->forked()) return {};
  auto registration = std::make_shared<RevocationListener>(std::move(listener));
  core()->on_strand([hold = weak_from_this(), weak = std::weak_ptr{registration}] {
    const auto self = hold.lock();
    if (!self) return;
    std::erase_if(self->revocables_, [](const auto& each) { return each.listener.expired(); });
    self->revocables_.push_back({weak});
    self->node_->look();
  });
  return Subscription{std::move(registration)};
}

void Holder::tell_revocation(std::int64_t transaction) {
  for (Revocable& each : revocables_) {
    if (std::exchange(each.told, transaction) == transaction) continue;
    core()->call_back([hold = weak_from_this(), weak = each.listener] {
      const auto listener = weak.lock();
      if (listener && !hold.expired()) (*listener)();
    });
  }
}

void Holder::wait(LeaseState known, const CancellationPtr& cancellation,
                  Handler<LeaseState> handler) {
  states_.wait(node_->state(), known, cancellation, std::move(handler));
}

void Holder::tell(LeaseState now) {
  if (states_.newest() == now) return;
  if (now == LeaseState::lost) {
    if (node_->observed()) observe_loss(node_->loss_reason());
    tell_lost();
  }
  states_.notify(states_.set(now), [this](auto call) { core()->call_back(std::move(call)); });
}

void Holder::observe_loss(LossReason reason) const {
  if (events_ == Events::of_loss_only) {
    core()->observation()->tell_lease_begun(node_->observed(), token_);
  }
  core()->observation()->tell_lease_lost(node_->observed(), token_, reason, since_);
}

void Holder::observe_release() const {
  const LossReason loss = node_->loss_reason();
  // A loss that was not reported before this destructor began is reported here only: the strand
  // finds no holder any more.
  if (loss != LossReason::none && states_.newest() != LeaseState::lost) observe_loss(loss);
  if (loss == LossReason::none && events_ == Events::of_loss_only) return;
  core()->observation()->tell_lease_released(node_->observed(), token_, loss, since_);
}

void Holder::tell_lost() {
  // The notification is posted to the executor itself, not to its strand: if the executor has
  // several threads, other callbacks, which may be slow, do not delay it.
  asio::post(core()->callback_executor(), [weak = weak_from_this()] {
    // A lease that has been released by now counts as released, not as lost.
    const auto self = weak.lock();
    if (!self) return;
    self->lost_.request_stop();
    self->core()->on_strand([node = self->node_] { node->on_holder_told(); });
  });
}

}  // namespace custodian::detail
