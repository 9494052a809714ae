#pragma once

/// \file
/// KeepForecast decides whether a lock's next node is worth keeping when its holder releases it.
/// Where two processes take turns, each of them would find the other's idle node in front, and wait
/// for its delete: there a kept node only costs time. Pure.

namespace custodian::recipes_detail {

class KeepForecast {
 public:
  /// The longest row of nodes that are not kept after a node that was kept to no use.
  static constexpr int most_skipped = 63;

  /// Whether the next node would be kept.
  [[nodiscard]] bool keeps_next() const noexcept { return to_skip_ == 0; }
  /// Called when a new node gets the lock. Returns whether the node is to be kept when its holder
  /// releases it.
  [[nodiscard]] bool begin() noexcept;
  /// Called when a node that was to be kept has ended because another contender came. `passes`: how
  /// often the node had been passed on until then without a request to the servers.
  void on_wanted(long passes) noexcept;

 private:
  int skipped_last_ = 0;
  int to_skip_ = 0;
};

}  // namespace custodian::recipes_detail
