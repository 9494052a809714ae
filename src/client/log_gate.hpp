#pragma once

/// \file
/// LogGate calls a client's log sink, until the client is destroyed.

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

#include "custodian/deadline.hpp"
#include "custodian/log.hpp"

namespace custodian::detail {

/// Leases and locks keep the core of a destroyed client, and the core writes lines. But the objects
/// that the sink refers to may be gone with the client. Used on any thread.
class LogGate {
 public:
  explicit LogGate(LogSink sink) : sink_{std::move(sink)} {}

  [[nodiscard]] bool has_sink() const noexcept { return static_cast<bool>(sink_); }
  /// Calls the sink, unless the gate is closed. One call at a time.
  void write(LogLevel level, std::string_view line);
  /// From now on, no call begins. Waits for a call that is under way, but no longer than until the
  /// deadline.
  void close(Deadline deadline);

 private:
  const LogSink sink_;
  std::mutex mutex_;
  std::condition_variable has_returned_;
  bool is_closed_ = false;
  bool is_calling_ = false;
};

}  // namespace custodian::detail
