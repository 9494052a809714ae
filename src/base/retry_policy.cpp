#include "custodian/retry_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "custodian/error.hpp"

namespace custodian {
namespace {

using std::chrono::milliseconds;

void require(bool holds, const char* policy, const char* rule, std::int64_t value) {
  if (!holds) {
    throw Error{
        Errc::invalid_argument, policy, {}, std::string{rule} + ", is " + std::to_string(value)};
  }
}

/// base * 2^retries, at most `limit`.
milliseconds doubled(milliseconds base, int retries, milliseconds limit) {
  // A count has 63 bits, so a positive base that is doubled more often is beyond any limit.
  if (retries > 62) {
    return limit;
  }
  const auto factor = std::int64_t{1} << retries;
  return base > limit / factor ? limit : base * factor;
}

/// `random` times `whole`, rounded down.
milliseconds part_of(milliseconds whole, double random) {
  // This comparison counts a NaN as 0.
  const double factor = random > 0 ? std::min(random, 1.0) : 0.0;
  const double part = factor * static_cast<double>(whole.count());
  // As doubles, the greatest counts round up to 2^63, which no count can hold.
  if (part >= static_cast<double>(whole.count())) {
    return whole;
  }
  return std::min(whole, milliseconds{static_cast<std::int64_t>(part)});
}

}  // namespace

RetryPolicy RetryPolicy::none() noexcept {
  RetryPolicy policy;
  policy.pace_ = Pace::constant;
  policy.pause_ = milliseconds::zero();
  policy.max_pause_ = milliseconds::zero();
  policy.max_retries_ = 0;
  return policy;
}

RetryPolicy RetryPolicy::n_times(int count, milliseconds pause) {
  constexpr auto name = "RetryPolicy::n_times";
  require(count >= 0, name, "count must not be negative", count);
  require(pause.count() >= 0, name, "pause must not be negative (milliseconds)", pause.count());
  RetryPolicy policy;
  policy.pace_ = Pace::constant;
  policy.pause_ = pause;
  policy.max_pause_ = pause;
  policy.max_retries_ = count;
  return policy;
}

RetryPolicy RetryPolicy::until_elapsed(milliseconds limit, milliseconds pause) {
  constexpr auto name = "RetryPolicy::until_elapsed";
  require(limit.count() >= 0, name, "limit must not be negative (milliseconds)", limit.count());
  require(pause.count() > 0, name, "pause must be positive (milliseconds)", pause.count());
  RetryPolicy policy = forever(pause);
  policy.limit_ = limit;
  return policy;
}

RetryPolicy RetryPolicy::forever(milliseconds pause) {
  require(pause.count() > 0, "RetryPolicy::forever", "pause must be positive (milliseconds)",
          pause.count());
  RetryPolicy policy;
  policy.pace_ = Pace::constant;
  policy.pause_ = pause;
  policy.max_pause_ = pause;
  policy.max_retries_ = std::nullopt;
  return policy;
}

RetryPolicy RetryPolicy::exponential_backoff(milliseconds base, milliseconds max_pause,
                                             std::optional<int> max_retries) {
  constexpr auto name = "RetryPolicy::exponential_backoff";
  require(base.count() > 0, name, "base must be positive (milliseconds)", base.count());
  require(max_pause >= base, name, "max_pause must not be less than base (milliseconds)",
          max_pause.count());
  require(max_retries.value_or(0) >= 0, name, "max_retries must not be negative",
          max_retries.value_or(0));
  RetryPolicy policy;
  policy.pause_ = base;
  policy.max_pause_ = max_pause;
  policy.max_retries_ = max_retries;
  return policy;
}

RetryPolicy RetryPolicy::unlimited() const noexcept {
  RetryPolicy policy = pause_.count() > 0 ? *this : RetryPolicy{};
  policy.max_retries_ = std::nullopt;
  policy.limit_ = std::nullopt;
  return policy;
}

std::optional<milliseconds> RetryPolicy::pause_before(RetryAttempt attempt) const noexcept {
  const int retries = std::max(0, attempt.retries_so_far);
  const auto elapsed = std::max(milliseconds::zero(), attempt.elapsed);
  if (max_retries_ && retries >= *max_retries_) {
    return std::nullopt;
  }
  const auto pause = pace_ == Pace::constant
                         ? pause_
                         : part_of(doubled(pause_, retries, max_pause_), attempt.random);
  if (!limit_) {
    return pause;
  }
  if (elapsed >= *limit_) {
    return std::nullopt;
  }
  return std::min(pause, *limit_ - elapsed);
}

}  // namespace custodian
