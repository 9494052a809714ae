#include "ensembles/moving_hold.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace custodian::recipes_detail {

namespace {

bool is_lost(const Lease& lease) { return lease.state() == LeaseState::lost; }

}  // namespace

bool MovingHold::has_lost() const {
  return std::ranges::any_of(shares_, [](const Share& each) { return is_lost(each.lease); });
}

MovingHold::Phase MovingHold::phase_now() const {
  if (phase_ == Phase::held && has_lost()) phase_ = Phase::lost;
  return phase_;
}

// -- The claim ------------------------------------------------------------------------------------

void MovingHold::add(const std::string& home, Lease lease) {
  const std::stop_token loss = lease.lost();
  std::size_t number = 0;
  {
    const std::lock_guard lock{mutex_};
    // The user may have released the lease while this home was taken in addition.
    if (phase_ == Phase::released || is_lost(lease)) return;
    number = next_number_++;
    shares_.push_back({home, number, std::move(lease)});
  }
  ears_.emplace_back(loss, [weak = weak_from_this(), number] {
    if (const auto alive = weak.lock()) alive->on_loss(number);
  });
}

void MovingHold::drop(const std::string& home) {
  Lease dropped;
  const std::lock_guard lock{mutex_};
  const auto share = std::ranges::find(shares_, home, &Share::home);
  if (share == shares_.end() || phase_now() == Phase::lost) return;
  dropped = std::move(share->lease);
  shares_.erase(share);
}

bool MovingHold::drop_lost() {
  std::vector<Share> dropped;
  const std::lock_guard lock{mutex_};
  const auto lost = std::ranges::stable_partition(
      shares_, [](const Share& each) { return !is_lost(each.lease); });
  std::ranges::move(lost, std::back_inserter(dropped));
  shares_.erase(lost.begin(), lost.end());
  return !dropped.empty();
}

std::vector<std::string> MovingHold::held_at() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> homes;
  for (const Share& each : shares_) {
    if (!is_lost(each.lease)) homes.push_back(each.home);
  }
  return homes;
}

FencingToken MovingHold::token_at(const std::string& home) const {
  const std::lock_guard lock{mutex_};
  const auto share = std::ranges::find(shares_, home, &Share::home);
  return share == shares_.end() ? FencingToken{} : share->lease.token();
}

bool MovingHold::grant(FencingToken token) {
  const std::lock_guard lock{mutex_};
  if (has_lost()) return false;
  phase_ = Phase::held;
  token_ = token;
  return true;
}

bool MovingHold::note_lost() {
  const std::lock_guard lock{mutex_};
  if (phase_ != Phase::held) return false;
  phase_ = Phase::lost;
  return true;
}

bool MovingHold::is_over() const {
  const std::lock_guard lock{mutex_};
  const Phase phase = phase_now();
  return phase == Phase::lost || phase == Phase::released;
}

void MovingHold::on_loss(std::size_t number) {
  bool is_hold = false;
  {
    const std::lock_guard lock{mutex_};
    // A share that was dropped meanwhile was not needed any more: its loss does not count.
    if (std::ranges::find(shares_, number, &Share::number) == shares_.end()) return;
    if (phase_ == Phase::held) phase_ = Phase::lost;
    is_hold = phase_ == Phase::lost;
  }
  if (is_hold) lost_.request_stop();
  on_change_();
}

// -- The user's lease -----------------------------------------------------------------------------

void MovingHold::release() noexcept {
  std::vector<Share> released;
  {
    const std::lock_guard lock{mutex_};
    phase_ = Phase::released;
    released.swap(shares_);
  }
  while (!released.empty()) released.pop_back();
  on_change_();
}

LeaseState MovingHold::state() const noexcept {
  const std::lock_guard lock{mutex_};
  switch (phase_now()) {
    case Phase::lost: return LeaseState::lost;
    case Phase::acquiring:
    case Phase::released: return LeaseState::released;
    case Phase::held: break;
  }
  const auto is_suspended = [](const Share& each) {
    return each.lease.state() != LeaseState::held;
  };
  return std::ranges::any_of(shares_, is_suspended) ? LeaseState::suspended : LeaseState::held;
}

std::chrono::nanoseconds MovingHold::remaining() const noexcept {
  const std::lock_guard lock{mutex_};
  std::optional<std::chrono::nanoseconds> least;
  if (phase_now() == Phase::held) {
    for (const Share& each : shares_) {
      const auto left = each.lease.remaining();
      least = std::min(least.value_or(left), left);
    }
  }
  return least.value_or(std::chrono::nanoseconds{0});
}

FencingToken MovingHold::token() const noexcept {
  const std::lock_guard lock{mutex_};
  return token_;
}

std::vector<std::string> MovingHold::homes() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> homes;
  for (const Share& each : shares_) homes.push_back(each.home);
  return homes;
}

TransactionOperation MovingHold::check(std::string_view home) const {
  const std::lock_guard lock{mutex_};
  const auto share = std::ranges::find(shares_, home, &Share::home);
  if (share != shares_.end()) return share->lease.check();
  throw Error{Errc::lock_lost, "check", {}, "the lease has no lock at that ensemble"};
}

}  // namespace custodian::recipes_detail
