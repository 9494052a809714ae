#include "kept/keep_forecast.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

bool KeepForecast::begin() noexcept {
  if (to_skip_ == 0) return true;
  --to_skip_;
  return false;
}

void KeepForecast::on_wanted(long passes) noexcept {
  constexpr long worth_it = 3;
  if (passes == 0) {
    skipped_last_ = std::min(2 * skipped_last_ + 1, most_skipped);
    to_skip_ = skipped_last_;
  } else if (passes >= worth_it) {
    skipped_last_ /= 2;
  }
}

}  // namespace custodian::recipes_detail
