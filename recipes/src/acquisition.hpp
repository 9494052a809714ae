#pragma once

/// \file
/// One acquire, from its call to its end, and the steps that acquires of all kinds share. For the
/// strand only.

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "contender_queue.hpp"

namespace custodian::recipes_detail {

struct Acquire {
  QueuePtr queue;
  Patience patience;
  AcquireOptions options;
  /// The only way in which anything here is cut short: by the caller, the deadline, or the client's
  /// end.
  CancellationPtr give_up;
  /// The exclusive lock that the shared one is acquired beside, if so.
  Lease held{};
  bool late = false;
  bool declined = false;  ///< it was only to be tried
  bool has_queued = false;
  std::optional<Participant> nearest{};

  [[nodiscard]] const Client& client() const { return queue->client; }
  /// Everything is retried until somebody gives up, so operations need no limits of their own.
  [[nodiscard]] RetryPolicy retry() const {
    return patience.only_try ? RetryPolicy::none() : client().retry_policy().unlimited();
  }
  [[nodiscard]] OperationOptions operation() const { return {Deadline::never(), retry()}; }
  [[nodiscard]] LeaseOptions lease_options() const {
    LeaseOptions of_lock = queue->lease;
    if (options.lease.loss_policy) of_lock.loss_policy = options.lease.loss_policy;
    if (options.lease.hold_at_most) of_lock.hold_at_most = options.lease.hold_at_most;
    return of_lock;
  }
};

using AcquirePtr = std::shared_ptr<Acquire>;

/// What one attempt comes to.
struct Turn {
  error_code error;
  Lease lease;
};

[[nodiscard]] std::string child(const std::string& parent, std::string_view name);

/// Creates a node, and waits until it is first.
[[nodiscard]] boost::asio::awaitable<Turn> stand_in_line(AcquirePtr acquire);
/// Creates a shared node beside the exclusive one that is held, and needs not wait.
[[nodiscard]] boost::asio::awaitable<Turn> stand_beside(AcquirePtr acquire);
/// First in the queue: a lease, as soon as the lease clock runs.
[[nodiscard]] boost::asio::awaitable<Turn> take(AcquirePtr acquire, OwnNode node);

}  // namespace custodian::recipes_detail
