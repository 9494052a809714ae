#pragma once

/// \file
/// PermitStock is the permits that a process has taken from the servers, each with the time at
/// which it is due. Pure.

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

  /// Permits that are due one after the other.
  struct Row {
    Time first{};
    std::int64_t count = 0;
    /// When the last permit before these is due: these are due one after the other behind it.
    Time not_before = Time::min();
  };
  /// Permits that were taken, and when the last of them is due.
  struct Taken {
    std::vector<Row> rows{};
    Time due{};
  };

  /// A permit is due `interval` after the one before.
  explicit PermitStock(std::chrono::nanoseconds interval) : interval_{interval} {}

  /// Adds permits that the servers have given after all those before. A process that was held up
  /// takes their times for later than they are, by `late` at most, the time that the write took. If
  /// those before were so, these are held back: calls keep their order, and the rate holds.
  void add(Time first, std::int64_t count, std::chrono::nanoseconds late);
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// When the next so many permits are all due; nothing if there are not so many.
  [[nodiscard]] std::optional<Time> due(std::int64_t permits) const;
  /// Takes them; there must be so many.
  [[nodiscard]] Taken take(std::int64_t permits);
  /// For others, who come before those that take later permits.
  void give_back(const Taken& taken);

 private:
  [[nodiscard]] Time due_in(const Row& row, std::int64_t permits) const {
    return std::max(row.first + (permits - 1) * interval_, row.not_before + permits * interval_);
  }

  const std::chrono::nanoseconds interval_;
  std::deque<Row> rows_;
  std::int64_t count_ = 0;
  Time last_due_ = Time::min();       ///< of the permits that were added last
  std::chrono::nanoseconds late_{0};  ///< the most by which that is later than it should be
};

}  // namespace custodian::recipes_detail
