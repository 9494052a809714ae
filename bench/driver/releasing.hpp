#pragma once

/// \file
/// Releasing does a driver's work `release`.

#include <cstdint>
#include <memory>
#include <vector>

namespace custodian::bench {

/// One waiter at a barrier on the servers. Threads: one.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  virtual ~Gate() = default;
  virtual void close() = 0;
  virtual void open() = 0;
  /// Waits until the gate is open.
  virtual void wait() = 0;
};

/// Threads that wait at one barrier, which the first gate opens, again and again.
class Releasing {
 public:
  /// The first gate closes and opens the barrier, too.
  explicit Releasing(std::vector<std::unique_ptr<Gate>> gates) : gates_{std::move(gates)} {}

  /// Goes on until `deadline`, in ns of the steady clock. Rethrows the exception of a thread.
  void run(std::int64_t deadline);
  /// The time from each opening to the return of each waiter, in ns.
  [[nodiscard]] const std::vector<std::int64_t>& times() const noexcept { return times_; }
  /// The time from each opening to the return of the last waiter, in ns.
  [[nodiscard]] const std::vector<std::int64_t>& last_times() const noexcept { return last_times_; }
  /// How many waiters have returned before an opening.
  [[nodiscard]] std::int64_t early() const noexcept { return early_; }

 private:
  void release_once();

  std::vector<std::unique_ptr<Gate>> gates_;
  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> last_times_;
  std::int64_t early_ = 0;
};

}  // namespace custodian::bench
