#pragma once

/// \file
/// AfterCommand does the work between the end of the command and the release: it calls the
/// acquire's Conclude or, without one, holds the lock until its minimum time is over.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>

namespace custodian::cli {

/// Called between the end of the command and the release. `status` is the command's exit status;
/// nothing if the command did not begin. Calls `then` when all is done, but not before it has
/// returned.
using Conclude = std::function<void(std::optional<int> status, std::function<void()> then)>;

/// Threads: the executor's, one at a time.
class AfterCommand {
 public:
  /// `hold_at_least` counts from the grant.
  AfterCommand(const boost::asio::any_io_executor& executor,
               std::optional<std::chrono::nanoseconds> hold_at_least)
      : linger_{executor}, hold_at_least_{hold_at_least} {}

  /// Notes that the lock was granted just now. `conclude` may be empty.
  void note_granted(Conclude conclude);
  /// Called when the command has ended. Calls `then` later, when all is done.
  void begin(std::optional<int> status, std::function<void()> then);
  /// Ends the wait for the minimum time; does not end a Conclude.
  void cut_short() { linger_.cancel(); }
  /// Forgets the Conclude of note_granted().
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
