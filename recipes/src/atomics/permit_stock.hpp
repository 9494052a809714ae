#pragma once

/// \file
/// PermitStock holds the permits that a process has taken from the servers, each with the time at
/// which the permit is due. Pure.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace custodian::recipes_detail {

class PermitStock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Permits of which each is due `interval` after the one before.
  struct Row {
    Time first{};
    std::int64_t count = 0;
    /// When the last permit of the row before is due: no permit of this row is due earlier than its
    /// place behind that one.
    Time not_before = Time::min();
  };
  /// Permits that were taken, and when the last of them is due.
  struct Taken {
    std::vector<Row> rows{};
    Time due{};
  };

  /// `interval`: the time between two permits.
  explicit PermitStock(std::chrono::nanoseconds interval) : interval_{interval} {}

  /// Adds permits, which the servers have given after all permits before. A process that was held
  /// up during the write computes due times that are too late, by at most `late`, the duration of
  /// the write. If the permits before may be too late, the new ones are held back behind them: so
  /// calls keep their order, and the rate holds.
  void add(Time first, std::int64_t count, std::chrono::nanoseconds late);
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// When the last of the next `permits` permits is due; nothing if there are not so many.
  [[nodiscard]] std::optional<Time> due(std::int64_t permits) const;
  /// Takes the next `permits` permits. There must be so many.
  [[nodiscard]] Taken take(std::int64_t permits);
  /// Gives permits back, in front of all others.
  void give_back(const Taken& taken);

 private:
  [[nodiscard]] Time due_in(const Row& row, std::int64_t permits) const {
    return std::max(row.first + (permits - 1) * interval_, row.not_before + permits * interval_);
  }

  const std::chrono::nanoseconds interval_;
  std::deque<Row> rows_;
  std::int64_t count_ = 0;
  Time last_due_ = Time::min();       ///< when the last permit that was added is due
  std::chrono::nanoseconds late_{0};  ///< the most by which `last_due_` may be too late
};

}  // namespace custodian::recipes_detail
