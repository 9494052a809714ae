#pragma once

/// \file
/// Counting does a driver's work `count`.

#include <cstdint>
#include <memory>
#include <vector>

namespace custodian::bench {

/// One adder to a number on the servers. Threads: one.
class Counter {
 public:
  Counter() = default;
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  virtual ~Counter() = default;
  /// Adds one, or throws.
  virtual void add() = 0;
  /// The number, after all writes so far.
  [[nodiscard]] virtual std::int64_t value() = 0;
};

/// Threads that add, each as fast as it can. The number must grow by the sum of their additions.
class Counting {
 public:
  explicit Counting(std::vector<std::unique_ptr<Counter>> counters);

  /// Adds until `deadline`, in ns of the steady clock. Rethrows the exception of a thread.
  void run(std::int64_t deadline);
  /// The time of each addition, in ns.
  [[nodiscard]] const std::vector<std::int64_t>& times() const noexcept { return times_; }
  /// The distance between the number and its expected value.
  [[nodiscard]] std::int64_t error();

 private:
  std::vector<std::unique_ptr<Counter>> counters_;
  std::vector<std::int64_t> times_;
  const std::int64_t before_;
};

}  // namespace custodian::bench
