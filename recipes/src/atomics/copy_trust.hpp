#pragma once

/// \file
/// CopyTrust decides whether an update leaves a copy of the value for the next one, which then
/// needs no read. Where other clients write, too, a copy is refused, and costs a round trip more
/// than a read: after each refusal in a row twice as many updates leave none. Pure.

#include <algorithm>

namespace custodian::recipes_detail {

class CopyTrust {
 public:
  /// Another client had written.
  void note_refused() noexcept { left_ = pause_ = std::min(2 * pause_ + 1, longest_pause); }
  /// The value was still the same.
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
