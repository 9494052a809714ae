#pragma once

/// \file
/// What an acquire of any lock may be told, and what it ends with. Value types.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "custodian/deadline.hpp"
#include "custodian/lease.hpp"

namespace custodian {

/// Somebody in the queue of a lock: holds it, or waits for it.
struct Participant {
  std::string node;      ///< the path of its node
  std::string identity;  ///< the node's data: "host/process id" unless it chose otherwise
  /// The id of the session that the node belongs to.
  std::int64_t session = 0;
  std::chrono::system_clock::time_point since{};  ///< in the queue; by the leader's clock
  FencingToken token;  ///< of the node's first holder; see HandOff::batch
};

/// What an acquire does that loses its session, and with it its place, while it waits.
enum class RequeuePolicy {
  /// Queues again, at the end, until its deadline.
  queue_again,
  /// Ends with session_lost.
  fail,
};

/// What one acquire may be told.
struct AcquireOptions {
  /// What it does when its session ends while it waits.
  RequeuePolicy requeue = RequeuePolicy::queue_again;
  /// What is set here wins over the lock's own terms.
  LeaseOptions lease{};
  /// Called whenever the place in the queue has become known or better: how many are ahead, and the
  /// nearest of them. Runs on the client's callback executor; perhaps after the acquire has ended.
  std::function<void(std::size_t ahead, const Participant& nearest)> on_position{};
  /// Called when the acquire stands at the end of the queue again.
  std::function<void()> on_requeued{};
};

/// What an acquire with a limit ends with: a lease or, too late, whoever was in the way.
struct [[nodiscard]] AcquireResult {
  /// Empty if it came too late.
  Lease lease{};
  /// The nearest one ahead, as last seen. Empty if there is a lease, or nobody was seen.
  std::optional<Participant> blocked_by{};

  /// Whether there is a lease.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(lease); }
  /// Not of a temporary, whose lease would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

}  // namespace custodian
