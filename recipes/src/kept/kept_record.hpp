#pragma once

/// \file
/// KeptRecord is what is noted of the present node of a kept lock: its age and its last use, for
/// the sweeps; how often it was taken again, for the observer and for KeepForecast.

#include <chrono>
#include <memory>

#include "custodian/authoring/bridge.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/observer.hpp"
#include "kept/keep_forecast.hpp"

namespace custodian::recipes_detail {

/// Threads: one at a time.
class KeptRecord {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A node is kept no longer than this, counted from its grant. So a contender gets its turn even
  /// if a server never reports it.
  static constexpr std::chrono::minutes longest{1};

  [[nodiscard]] KeepForecast& forecast() noexcept { return forecast_; }
  /// A node was granted the lock; `keeps`: it may be kept.
  void begin(bool keeps, ObservedLockPtr observed, FencingToken token);
  /// It has another holder; `alone`: without a word to the servers, for no other contender is
  /// known.
  void on_passed(bool alone) noexcept {
    was_used_ = true;
    if (alone) ++passes_;
  }
  /// The same, when the new holder did not wait.
  void on_reused() noexcept {
    on_passed(true);
    ++reuses_;
  }
  void on_idle() noexcept { was_idle_ = was_used_ = true; }
  /// It is not kept, for this reason, unless its keeping has ended before.
  void end(const std::weak_ptr<CorePtr::element_type>& core, KeptLockEnd reason);
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// Tells the observer how often it was taken again since the last call.
  void tell_reuses(const CorePtr& core);
  /// Notes its last use. To be called before those that follow. The clock is not read at each use,
  /// for that takes as long as the rest of it.
  void look(Time now) noexcept;
  [[nodiscard]] bool is_old(Time now) const noexcept {
    return keeps_ && now - granted_at_ >= longest;
  }
  [[nodiscard]] std::chrono::nanoseconds unused_for(Time now) const noexcept {
    return now - used_at_;
  }

 private:
  KeepForecast forecast_;
  bool keeps_ = false;     ///< it may be kept
  bool was_idle_ = false;  ///< it has been idle
  Time granted_at_{};
  Time used_at_{};            ///< as far as is known
  bool was_used_ = false;     ///< since the last look
  long passes_ = 0;           ///< how often it had another holder while the client was alone
  long reuses_ = 0;           ///< of these, when that one did not wait
  long reuses_told_ = 0;      ///< of these, those that the observer knows of
  ObservedLockPtr observed_;  ///< null without an observer
  FencingToken token_;        ///< of its first holder
};

}  // namespace custodian::recipes_detail
