#pragma once

/// \file
/// Health decides whether this instance should get requests.
///
/// A request that needs a lock is answered by itself: 503, and why. So a moment without ZooKeeper
/// is no reason to leave the load balancer: all instances would leave at once, with the requests
/// that they could still answer. To be without ZooKeeper for longer than a session, while others
/// may have it, is a reason.

#include <atomic>
#include <chrono>

#include "custodian/client.hpp"

namespace inventory {

/// Threads: any.
class Health {
 public:
  /// `patience`: how long an instance without a connection is still ready.
  Health(const custodian::Client& client, std::chrono::milliseconds patience)
      : patience_{patience},
        listening_{client.on_connection_state([this](custodian::ConnectionState state) {
          const bool was_connected = connected_.exchange(is_connected(state));
          if (was_connected && !is_connected(state)) since_ = Clock::now();
        })} {}

  void begin_shutdown() { shutting_down_ = true; }
  [[nodiscard]] bool shutting_down() const { return shutting_down_; }
  [[nodiscard]] bool ready() const {
    return !shutting_down_ && (connected_ || Clock::now() - since_.load() < patience_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::chrono::milliseconds patience_;
  std::atomic<bool> shutting_down_ = false;
  std::atomic<bool> connected_ = false;
  std::atomic<Clock::time_point> since_ = Clock::now();
  custodian::Subscription listening_;
};

}  // namespace inventory
