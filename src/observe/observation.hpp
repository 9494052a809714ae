#pragma once

/// \file
/// Every event for a client's observer passes through Observation, which makes it and delivers it
/// where user code runs.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/authoring/observed_lock.hpp"
#include "custodian/log.hpp"
#include "custodian/observer.hpp"
#include "observe/downtime_clock.hpp"

namespace custodian::detail {

/// *ObservedClient* is the interface of a client for the client's own Observation. Called on any
/// thread.
class ObservedClient {
 public:
  ObservedClient() = default;
  ObservedClient(const ObservedClient&) = delete;
  ObservedClient& operator=(const ObservedClient&) = delete;
  virtual ~ObservedClient() = default;

  /// The time by the clock that leases are measured with.
  [[nodiscard]] virtual BootClock::time_point now() const noexcept = 0;
  /// The user's form of a path: without the chroot and the namespace.
  [[nodiscard]] virtual std::string user_path(std::string_view full_path) const = 0;
  /// Runs the call on the callback executor, in the order of these calls, and keeps the client
  /// until then. Does nothing in the child of a fork, where mutexes may be locked for ever.
  virtual void call_observer(std::function<void()> call) = 0;
  virtual void log(LogLevel level, std::string message) = 0;
};

/// The Observation of one client. Called on any thread, unless stated otherwise.
class Observation {
 public:
  Observation(ObservedClient& client, std::shared_ptr<Observer> observer);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  ~Observation();

  void tell_acquire_begun(const ObservedLockPtr& lock, BootClock::time_point since);
  void tell_acquire_ended(const ObservedLockPtr& lock, AcquireOutcome outcome,
                          const error_code& error, BootClock::time_point since, std::size_t leases);
  void tell_lease_begun(const ObservedLockPtr& lock, FencingToken token);
  void tell_lease_lost(const ObservedLockPtr& lock, FencingToken token, LossReason reason,
                       BootClock::time_point since);
  void tell_lease_released(const ObservedLockPtr& lock, FencingToken token, LossReason loss,
                           BootClock::time_point since);
  void tell_lock_reused(const ObservedLockPtr& lock, FencingToken token, std::uint64_t times);
  void tell_kept_lock_ended(const ObservedLockPtr& lock, FencingToken token, KeptLockEnd reason);
  void tell_wait_ended(const ObservedLockPtr& wait, WaitOutcome outcome, const error_code& error,
                       BootClock::time_point since);
  void tell_update_ended(const ObservedLockPtr& value, UpdateFacts facts,
                         BootClock::time_point since);
  /// `full_path` is the path on the server.
  void tell_retried(std::string_view operation, std::string_view full_path, const error_code& error,
                    int attempts, std::chrono::milliseconds pause);
  void tell_retried(const Request& request, const error_code& error, int attempts,
                    std::chrono::milliseconds pause);
  /// Called on the strand only.
  void tell_connection_changed(ConnectionState state);

 private:
  template <typename Tell>
  void post(Tell tell);
  /// Logs the observer's first exception. Call it in the handler that has caught the exception.
  void on_thrown();

  ObservedClient& client_;
  const std::shared_ptr<Observer> observer_;
  DowntimeClock absence_;  ///< used on the strand only
  bool thrown_ = false;    ///< used on the callback executor, by one call at a time
};

}  // namespace custodian::detail
