#include "client/log_gate.hpp"

namespace custodian::detail {

void LogGate::write(LogLevel level, std::string_view line) {
  {
    const std::lock_guard lock{mutex_};
    if (is_closed_) return;
    is_calling_ = true;
  }
  try {
    sink_(level, line);
  } catch (...) {
    // A log that cannot be written must not end the process, and the failure cannot be reported
    // elsewhere.
  }
  const std::lock_guard lock{mutex_};
  is_calling_ = false;
  has_returned_.notify_all();
}

void LogGate::close(Deadline deadline) {
  std::unique_lock lock{mutex_};
  is_closed_ = true;
  has_returned_.wait_until(lock, deadline.time_point(), [this] { return !is_calling_; });
}

}  // namespace custodian::detail
