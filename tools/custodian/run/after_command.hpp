#pragma once

/// \file
/// AfterCommand does what is to be done between the end of the command and the release: what the
/// acquire has left to conclude, or to hold the lock for a while longer.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace custodian::cli {

/// Called when the command has ended, with its exit status, or nothing if it did not begin, and
/// before the release. Calls `then` once it is done, later.
using Conclude = std::function<void(std::optional<int> status, std::function<void()> then)>;

/// Threads: the executor's, one at a time.
class AfterCommand {
 public:
  /// `hold_at_least` counts from the grant.
  AfterCommand(const boost::asio::any_io_executor& executor,
               std::optional<std::chrono::nanoseconds> hold_at_least)
      : linger_{executor}, hold_at_least_{hold_at_least} {}

  /// The lock was granted just now. `conclude` may be empty.
  void note_granted(Conclude conclude);
  /// The command has ended. Calls `then` later, when all is done.
  void begin(std::optional<int> status, std::function<void()> then);
  /// Ends the time for which the lock is held on; not what there is to conclude.
  void cut_short() { linger_.cancel(); }
  /// Forgets what there was to conclude.
  void forget() { conclude_ = nullptr; }
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  /// Whether the lock is held on after the command has ended.
  [[nodiscard]] bool holds_on() const;

 private:
  [[nodiscard]] std::chrono::steady_clock::time_point hold_until() const;

  boost::asio::steady_timer linger_;
  const std::optional<std::chrono::nanoseconds> hold_at_least_;
  std::chrono::steady_clock::time_point granted_{};
  Conclude conclude_;
  bool has_begun_ = false;
  bool has_run_ = false;
};

}  // namespace custodian::cli
