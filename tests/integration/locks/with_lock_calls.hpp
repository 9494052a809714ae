#pragma once

/// \file
/// Helpers that the tests of with_lock() share: an address without a server, a fallback, and the
/// outcome of a call.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "custodian/error.hpp"
#include "support/test_client.hpp"
#include "support/undisturbed.hpp"

namespace custodian::tests::with_lock_calls {

/// An address without a server.
inline constexpr auto nowhere = "127.0.0.1:1";
inline const error_code busy = make_error_code(boost::system::errc::device_or_resource_busy);

struct Failure : std::runtime_error {
  Failure() : std::runtime_error{"the function fails"} {}
};

/// A mutex like std::timed_mutex, whose timed waits the ThreadSanitizer of g++ 12 does not see.
class TimedLock {
 public:
  void lock() {
    while (!try_lock_for(std::chrono::hours{1})) {
    }
  }
  bool try_lock() { return try_lock_for(std::chrono::nanoseconds{0}); }
  bool try_lock_for(std::chrono::nanoseconds wait) {
    std::unique_lock guard{mutex_};
    if (!freed_.wait_for(guard, wait, [&] { return !locked_; })) return false;
    locked_ = true;
    return true;
  }
  void unlock() {
    const std::scoped_lock guard{mutex_};
    locked_ = false;
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool locked_ = false;
};

template <typename Function>
error_code error_of_call(Function function) {
  return error_of([&] { static_cast<void>(undisturbed(function)); });
}

}  // namespace custodian::tests::with_lock_calls
