#pragma once

/// \file
/// KeptRecord records, for the present node of a kept lock, its age and its last use, for the
/// sweeps; and how often it was taken again, for the observer and for KeepForecast.

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
  /// Begins the record of a node that was granted the lock. `keeps`: whether the node may be kept.
  void begin(bool keeps, ObservedLockPtr observed, FencingToken token);
  /// Notes another holder of the node. `alone`: no other contender is known, so that the node was
  /// passed on without a request to the servers.
  void on_passed(bool alone) noexcept {
    was_used_ = true;
    if (alone) ++passes_;
  }
  /// Notes another holder that did not wait.
  void on_reused() noexcept {
    on_passed(true);
    ++reuses_;
  }
  void on_idle() noexcept { was_idle_ = was_used_ = true; }
  /// Ends the keeping of the node, for this reason, unless it has ended before.
  void end(const std::weak_ptr<CorePtr::element_type>& core, KeptLockEnd reason);
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// Reports to the observer how often the node was taken again since the last report.
  void tell_reuses(const CorePtr& core);
  /// Notes the node's last use. Call it before the functions below. The clock is not read at each
  /// use, since that would take as long as the rest of the use.
  void look(Time now) noexcept;
  [[nodiscard]] bool is_old(Time now) const noexcept {
    return keeps_ && now - granted_at_ >= longest;
  }
  [[nodiscard]] std::chrono::nanoseconds unused_for(Time now) const noexcept {
    return now - used_at_;
  }

 private:
  KeepForecast forecast_;
  bool keeps_ = false;     ///< the node may be kept
  bool was_idle_ = false;  ///< the node has been idle
  Time granted_at_{};
  Time used_at_{};            ///< as far as is known
  bool was_used_ = false;     ///< the node was used since the last look
  long passes_ = 0;           ///< how often it had another holder while the client was alone
  long reuses_ = 0;           ///< how often such a holder did not wait
  long reuses_told_ = 0;      ///< how many of these were reported to the observer
  ObservedLockPtr observed_;  ///< null without an observer
  FencingToken token_;        ///< the token of the node's first holder
};

}  // namespace custodian::recipes_detail
