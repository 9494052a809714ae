#pragma once

/// \file
/// CopyTrust decides whether an update leaves a copy of the value for the next update, which then
/// needs no read. Where other clients write, too, the servers refuse a write that relies on a copy,
/// which costs one round trip more than a read. After each refusal in a row, twice as many updates
/// leave no copy. Pure.

#include <algorithm>

namespace custodian::recipes_detail {

class CopyTrust {
 public:
  /// Another client had written, so a write that relied on a copy was refused.
  void note_refused() noexcept { left_ = pause_ = std::min(2 * pause_ + 1, longest_pause); }
  /// The copy was still the value.
  void note_held() noexcept { pause_ = 0; }
  /// At the end of an update: whether to leave a copy.
  [[nodiscard]] bool leaves_copy() noexcept {
    if (left_ == 0) return true;
    --left_;
    return false;
  }

  static constexpr int longest_pause = 31;

 private:
  int pause_ = 0;
  int left_ = 0;
};

}  // namespace custodian::recipes_detail
