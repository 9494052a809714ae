#pragma once

/// \file
/// Following is for a command that goes on until a signal ends it: it waits for events, and for the
/// end.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace custodian::cli {

/// SIGINT or SIGTERM is its ordinary end.
///
/// Threads: one that waits; wake() from any.
class Following {
 public:
  Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following();

  /// An event has happened.
  void wake();
  /// Waits until an event has happened since the last wait, or the time is over. False at the end.
  [[nodiscard]] bool wait(std::chrono::milliseconds at_most);
  /// Whether the terminal may look different since this was last asked: it has another size, or
  /// others have written on it while this process was stopped.
  [[nodiscard]] bool was_resized() noexcept { return resized_.exchange(false); }
  /// Requested at the end.
  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  void wait_for_signal();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::atomic<bool> resized_ = false;
  std::stop_source stop_;
  boost::asio::io_context context_;
  boost::asio::signal_set signals_;
  std::jthread thread_;
};

}  // namespace custodian::cli
