#pragma once

/// \file
/// *Drain* counts the leases of a client, and wakes the waiters when the last lease ends.

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

/// The phases of a client from its first close() to the end of its sessions: no new lease begins;
/// no lease is left, or the holders are cut off; all holders are notified.
class Drain {
 public:
  // Called on any thread.
  /// From now on, no lease may begin. Returns whether this is the first call.
  [[nodiscard]] bool begin() noexcept { return !draining_.exchange(true); }
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  /// A lease begins (+1) or has ended (-1). Returns whether the client drains and has no lease
  /// left: the caller then runs cancel_timers() on the strand.
  [[nodiscard]] bool count(int change) noexcept;
  [[nodiscard]] bool has_hold() const;
  /// Blocks until no lease is held, or the holders are cut off.
  void wait(Deadline deadline);
  /// The client is closed: ends wait(), even if leases are left.
  void cut_holders_off();
  /// Whether a lease was held when the client was closed.
  [[nodiscard]] bool has_cut_holders_off() const;

  // Called on the strand only.
  /// Registers a timer for cancel_timers(), which is called when no lease is left or the client is
  /// closed. Must be called before that.
  void cancel_when_drained(const std::shared_ptr<boost::asio::steady_timer>& timer);
  void cancel_timers();
  /// Holders are being notified of the end: when_notified() waits until end_notifying().
  void begin_notifying() noexcept { notifying_ = true; }
  /// The holders have been notified, or their time is over.
  void end_notifying();
  /// Runs a function: at once, or, while holders are being notified, afterwards.
  void when_notified(std::function<void()> next);

 private:
  std::atomic<bool> draining_ = false;
  bool notifying_ = false;                    ///< used on the strand only
  std::vector<std::function<void()>> nexts_;  ///< used on the strand only
  /// Used on the strand only.
  std::vector<std::weak_ptr<boost::asio::steady_timer>> timers_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable drained_;
  int holds_ = 0;
  std::optional<bool> cut_off_;  ///< set at the close: whether a lease was held
};

}  // namespace custodian::detail
