#pragma once

/// \file
/// DriverLine exchanges messages between a worker and the driver, over the worker's standard input
/// and output. Each message is one line.
///
///   to the worker:   keep <lock>     the next holder of the lock in this worker keeps it
///                    be-quiet        the worker only reads, and begins no more acquires
///                    let-go          ends `keep` and `be-quiet`
///                    finish          begin no more acquires, and end after those under way
///   from the worker: ready
///                    granted <lock> <token>
///                    kept <lock> <token> <node> <session id> <password, in hexadecimal>
///                    lost <lock> <token>      a kept lock was lost
///                    done <load>              requests and watches that its client still has
///
/// A worker ends when its driver is gone.

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>

namespace custodian::chaos {

/// The worker's end of the line. A process has one, during its whole life. Threads: any.
class DriverLine {
 public:
  /// Listens on a thread of its own, which ends with the process.
  DriverLine();
  DriverLine(const DriverLine&) = delete;
  DriverLine& operator=(const DriverLine&) = delete;

  void say(const std::string& message);
  /// Returns whether the driver wants the holder of this lock to keep it.
  [[nodiscard]] bool keeps(const std::string& lock) const;
  /// Returns whether the driver wants the worker to be quiet.
  [[nodiscard]] bool wants_quiet() const;
  [[nodiscard]] bool finishing() const noexcept { return finishing_; }
  void wait_for_finish() { finish_.get_future().wait(); }

 private:
  void listen();

  mutable std::mutex mutex_;
  std::optional<std::string> kept_;
  bool quiet_ = false;
  std::atomic<bool> finishing_{false};
  std::promise<void> finish_;
};

}  // namespace custodian::chaos
