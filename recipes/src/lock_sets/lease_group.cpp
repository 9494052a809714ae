#include "custodian/lock_sets/lease_group.hpp"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>

#include "lock_sets/held_custom.hpp"
#include "lock_sets/loss_counter.hpp"
#include "lock_sets/quorum_rule.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

LossCounter::LossCounter(const Client& home, std::size_t spare)
    : home_{home.share()}, spare_{static_cast<std::ptrdiff_t>(spare)} {}

void LossCounter::listen(const std::stop_token& lost) {
  ears_.emplace_back(lost, [self = shared_from_this()] { self->on_loss(); });
}

void LossCounter::on_loss() {
  if (spare_.fetch_sub(1) > 0) return;
  Phase phase = Phase::listening;
  if (!phase_.compare_exchange_strong(phase, Phase::telling)) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::telling) lost_.request_stop();
  complete_waiters({});
  // Whoever has been told may have let go meanwhile, and could not wait for this here to end.
  phase = Phase::telling;
  if (!phase_.compare_exchange_strong(phase, Phase::told)) ears_.clear();
}

void LossCounter::dismiss() noexcept {
  if (phase_.exchange(Phase::dismissed) == Phase::telling) return;
  // One that runs now tells nobody any more, and is over at once.
  ears_.clear();
  complete_waiters(asio::error::operation_aborted);
}

void LossCounter::wait(const CancellationPtr& cancellation, Handler<> handler) {
  const auto waiter = std::make_shared<ResumeTarget>(std::move(handler));
  Phase phase = Phase::listening;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(waiters_, [](const auto& each) { return each->done(); });
    phase = phase_;
    if (phase == Phase::listening) waiters_.push_back(waiter);
  }
  if (phase == Phase::dismissed) return waiter->complete(asio::error::operation_aborted);
  if (phase != Phase::listening) return waiter->complete({});
  if (!cancellation) return;
  asio::dispatch(home_.get_executor(), [cancellation, weak = std::weak_ptr{waiter}] {
    const auto give_up = [weak] {
      if (const auto alive = weak.lock()) alive->complete(asio::error::operation_aborted);
    };
    if (cancellation->requested()) return give_up();
    cancellation->on_request(cancellation.get(), give_up);
  });
}

void LossCounter::complete_waiters(error_code error) {
  std::vector<std::shared_ptr<ResumeTarget>> waiters;
  {
    const std::lock_guard lock{mutex_};
    waiters.swap(waiters_);
  }
  for (const auto& waiter : waiters) waiter->complete(error);
}

void LossCounter::ResumeTarget::complete(error_code error) {
  if (!done_.exchange(true)) std::move(handler_)(error);
}

CorePtr core_of(const LossCounterPtr& loss, std::string_view operation) {
  if (!loss) throw Error{Errc::lock_lost, operation, "", "the group is empty"};
  return loss->home().core();
}

void start_wait_group_lost(CorePtr, CancellationPtr cancellation, LossCounterPtr loss,
                           Handler<> handler) {
  if (loss->home().unusable() == Errc::forked) return std::move(handler)(Errc::forked);
  loss->wait(cancellation, std::move(handler));
}

}  // namespace recipes_detail

LeaseGroup::LeaseGroup(const Client& home, std::vector<Lease> leases, std::size_t needed)
    : LeaseGroup{home, std::move(leases), {}, needed} {}

LeaseGroup::LeaseGroup(const Client& home, std::vector<Lease> leases,
                       std::vector<recipes_detail::CustomShare> customs, std::size_t needed)
    : leases_{std::move(leases)}, customs_{std::move(customs)}, needed_{needed} {
  const std::size_t count = leases_.size() + customs_.size();
  if (needed == 0 || needed > count) {
    throw Error{Errc::invalid_argument, "LeaseGroup", "",
                "needed: " + std::to_string(needed) + " of " + std::to_string(count) + " leases"};
  }
  loss_ = std::make_shared<recipes_detail::LossCounter>(home, count - needed);
  for (const Lease& lease : leases_) loss_->listen(lease.lost());
  for (const auto& custom : customs_) loss_->listen(custom.held->lost());
}

LeaseGroup::LeaseGroup(LeaseGroup&& other) noexcept
    : leases_{std::move(other.leases_)},
      customs_{std::move(other.customs_)},
      needed_{std::exchange(other.needed_, 0)},
      loss_{std::move(other.loss_)} {}

LeaseGroup& LeaseGroup::operator=(LeaseGroup&& other) noexcept {
  if (this != &other) {
    release();
    leases_ = std::move(other.leases_);
    customs_ = std::move(other.customs_);
    needed_ = std::exchange(other.needed_, 0);
    loss_ = std::move(other.loss_);
  }
  return *this;
}

LeaseGroup::~LeaseGroup() { release(); }

void LeaseGroup::release() noexcept {
  // In a forked child mutexes may be locked for ever: there it goes on keeping itself.
  if (loss_ && loss_->home().unusable() != Errc::forked) loss_->dismiss();
  loss_.reset();
  while (!leases_.empty() || !customs_.empty()) {
    if (!customs_.empty() && customs_.back().leases_before == leases_.size()) {
      customs_.pop_back();
    } else {
      leases_.pop_back();
    }
  }
  needed_ = 0;
}

LeaseState LeaseGroup::state() const noexcept {
  std::vector<LeaseState> states(leases_.size());
  std::ranges::transform(leases_, states.begin(), &Lease::state);
  for (const auto& custom : customs_) {
    states.push_back(custom.held->is_lost() ? LeaseState::lost : LeaseState::held);
  }
  return recipes_detail::state_of(states, needed_);
}

std::chrono::nanoseconds LeaseGroup::remaining() const noexcept {
  std::vector<std::chrono::nanoseconds> times(leases_.size());
  std::ranges::transform(leases_, times.begin(), &Lease::remaining);
  for (const auto& custom : customs_) {
    times.push_back(custom.held->is_lost() ? std::chrono::nanoseconds::zero()
                                           : std::chrono::nanoseconds::max());
  }
  return recipes_detail::remaining_of(std::move(times), needed_);
}

std::stop_token LeaseGroup::lost() const noexcept {
  return loss_ ? loss_->lost() : std::stop_token{};
}

LeaseGroup LeaseGroup::share() const {
  if (needed_ == 0) return {};
  std::vector<Lease> leases(leases_.size());
  std::ranges::transform(leases_, leases.begin(), &Lease::share);
  return LeaseGroup{loss_->home(), std::move(leases), customs_, needed_};
}

}  // namespace custodian
