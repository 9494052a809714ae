#pragma once

/// \file
/// Following is for a command that runs until a signal ends it: it waits for events and for that
/// signal.

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

/// Ends normally on SIGINT or SIGTERM.
///
/// Threads: one calls wait(); any may call wake().
class Following {
 public:
  Following();
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following();

  /// Reports an event to wait().
  void wake();
  /// Waits until an event has happened since the last wait, but not longer than `at_most`. False
  /// once SIGINT or SIGTERM has arrived.
  [[nodiscard]] bool wait(std::chrono::milliseconds at_most);
  /// Returns whether the terminal may look different since the last call: its size has changed, or
  /// other processes have written on it while this one was stopped.
  [[nodiscard]] bool was_resized() noexcept { return resized_.exchange(false); }
  /// The token of a stop that is requested when SIGINT or SIGTERM arrives.
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
