#pragma once

/// \file
/// DriverLine has the messages between a worker and the driver, over the worker's standard input
/// and output; one line each.
///
///   to the worker:   keep <lock>     the next holder of the lock in this worker keeps it
///                    be-quiet        and does as little as it can: reads, and begins no more
///                                    acquires
///                    let-go          until this
///                    finish          begin no more acquires, and end when those begun are over
///   from the worker: ready
///                    granted <lock> <token>
///                    kept <lock> <token> <node> <session id> <password, in hexadecimal>
///                    lost <lock> <token>      a kept one
///                    done <load>              requests and watches that its client still has
///
/// A worker whose driver is gone ends.

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>

namespace custodian::chaos {

/// A worker's end of it. Threads: any. There is one in a process, for all its life.
class DriverLine {
 public:
  /// Begins to listen, on a thread of its own that ends with the process.
  DriverLine();
  DriverLine(const DriverLine&) = delete;
  DriverLine& operator=(const DriverLine&) = delete;

  void say(const std::string& message);
  /// Whether a hold of this lock is to be kept.
  [[nodiscard]] bool keeps(const std::string& lock) const;
  /// Whether as little as possible is to be done.
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
