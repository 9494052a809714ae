#pragma once

/// \file
/// Health decides whether the load balancer should send requests to this instance.
///
/// While ZooKeeper is away, a request that needs a lock gets the answer 503, with the reason. A
/// short absence is therefore no reason to be unready: the load balancer would drop all instances
/// at once, though they can still answer other requests. An absence of more than a session timeout
/// is a reason, since other instances may have a connection.

#include <atomic>
#include <chrono>

#include "custodian/client.hpp"

namespace inventory {

/// Threads: any.
class Health {
 public:
  /// `patience` is how long an instance stays ready without a connection.
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
