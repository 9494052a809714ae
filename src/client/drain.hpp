#pragma once

/// \file
/// *Drain* counts the leases of a client, and knows the waiters for the end of the last.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "custodian/deadline.hpp"

namespace custodian::detail {

/// The way of a client from its first close() to the end of its sessions: no new lease, no lease
/// left (or the holders cut off), all holders notified.
class Drain {
 public:
  // Any thread. From now on no lease may begin. Returns whether that is new.
  [[nodiscard]] bool begin() noexcept { return !draining_.exchange(true); }
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  /// A lease begins (+1) or has ended (-1). Returns whether it was the last one of a client that
  /// drains: cancel_timers() follows, on the strand.
  [[nodiscard]] bool count(int change) noexcept;
  [[nodiscard]] bool has_hold() const;
  /// Blocks until no lease is held, or the holders are cut off.
  void wait(Deadline deadline);
  /// The client is closed, and leases that are left do not count any more.
  void cut_holders_off();
  /// Whether a lease was held when the client was closed.
  [[nodiscard]] bool has_cut_holders_off() const;

  // The strand only.
  /// Cancels a timer when no lease is held any more, or the client is closed; call it before that.
  void cancel_when_drained(const std::shared_ptr<boost::asio::steady_timer>& timer);
  void cancel_timers();
  /// Holders are notified of the end now: functions given to when_notified() wait for that.
  void begin_notifying() noexcept { notifying_ = true; }
  /// The holders have been notified, or their time is over.
  void end_notifying();
  /// Runs now, or when the holders have been notified.
  void when_notified(std::function<void()> next);

 private:
  std::atomic<bool> draining_ = false;
  bool notifying_ = false;                    ///< the strand only
  std::vector<std::function<void()>> nexts_;  ///< the strand only
  /// The strand only.
  std::vector<std::weak_ptr<boost::asio::steady_timer>> timers_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable drained_;
  int holds_ = 0;
  std::optional<bool> cut_off_;  ///< known when the client is closed
};

}  // namespace custodian::detail
