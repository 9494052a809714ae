#include "custodian/ensembles/moving_lease.hpp"

#include <utility>

#include "custodian/error.hpp"
#include "ensembles/moving_hold.hpp"

namespace custodian {

namespace {

/// In a forked child the hold's mutex may be locked for ever, and the lock belongs to the parent.
bool is_forked(const recipes_detail::MovingHoldPtr& hold) {
  return hold->home().unusable() == Errc::forked;
}

}  // namespace

MovingLease::MovingLease(recipes_detail::MovingHoldPtr hold) noexcept : hold_{std::move(hold)} {}

MovingLease& MovingLease::operator=(MovingLease&& other) noexcept {
  if (this == &other) return *this;
  release();
  hold_ = std::move(other.hold_);
  return *this;
}

MovingLease::~MovingLease() { release(); }

void MovingLease::release() noexcept {
  const auto hold = std::exchange(hold_, nullptr);
  if (hold && !is_forked(hold)) hold->release();
}

LeaseState MovingLease::state() const noexcept {
  if (!hold_) return LeaseState::released;
  return is_forked(hold_) ? LeaseState::lost : hold_->state();
}

std::chrono::nanoseconds MovingLease::remaining() const noexcept {
  if (!hold_ || is_forked(hold_)) return std::chrono::nanoseconds{0};
  return hold_->remaining();
}

std::stop_token MovingLease::lost() const noexcept {
  return hold_ ? hold_->lost() : std::stop_token{};
}

FencingToken MovingLease::token() const noexcept {
  return !hold_ || is_forked(hold_) ? FencingToken{} : hold_->token();
}

std::vector<std::string> MovingLease::homes() const {
  return !hold_ || is_forked(hold_) ? std::vector<std::string>{} : hold_->homes();
}

TransactionOperation MovingLease::check(std::string_view ensemble) const {
  if (hold_ && is_forked(hold_))
    throw Error{Errc::forked, "check", {}, "the lease is the parent's"};
  if (hold_) return hold_->check(ensemble);
  throw Error{Errc::lock_lost, "check", {}, "the lease is empty"};
}

}  // namespace custodian
