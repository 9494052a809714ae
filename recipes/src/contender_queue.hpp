#pragma once

/// \file
/// The one way in and out of every queue of contenders: the mutex, and whatever else is fair. What
/// differs between recipes is data: the rule, and the name that the contenders bear.

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "contender_order.hpp"
#include "custodian/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/recipes/acquire.hpp"

namespace custodian::recipes_detail {

/// What all acquires of one lock object have in common. Immutable but for the flag.
struct Queue {
  Client client;
  std::string path;
  Rule rule;
  std::string_view lock_name;  ///< of this kind of contender
  std::string identity;
  LeaseOptions lease;  ///< unless the acquire says otherwise
  mutable std::atomic<bool> foreign_reported = false;
};

using QueuePtr = std::shared_ptr<const Queue>;

/// How long an acquire may take.
struct Patience {
  Deadline deadline = Deadline::never();
  /// Asks once, and neither waits for a connection nor for the lock.
  bool only_try = false;
};

/// From any thread. The handler runs on the strand.
void start_acquire_within(const QueuePtr& queue, CancellationPtr cancellation, Patience patience,
                          AcquireOptions options, Handler<AcquireResult> handler);

/// The acquires that a draining client must end. One a client.
class WaitingAcquires final : public Service {
 public:
  explicit WaitingAcquires(const boost::asio::any_io_executor&) {}

  void begin_shutdown() override;

  [[nodiscard]] bool closing() const noexcept { return closing_; }
  void enter(const CancellationPtr& acquire) { acquires_.insert(acquire); }
  void leave(const CancellationPtr& acquire) { acquires_.erase(acquire); }

 private:
  std::set<CancellationPtr> acquires_;
  bool closing_ = false;
};

}  // namespace custodian::recipes_detail
