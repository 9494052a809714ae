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
  // In a forked child mutexes may be locked for ever, so there the counter is not dismissed, and
  // leaks.
  if (loss_ && loss_->home().unusable() != Errc::forked) loss_->dismiss();
  loss_.reset();
  while (!leases_.empty() || !customs_.empty()) {
    // The leases are released in the reverse order of their acquires.
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
