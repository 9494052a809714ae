#pragma once

/// \file
/// The options and results of an acquire of any lock. Value types.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian {

/// A contender in the queue of a lock: it holds the lock, or waits for it.
struct Participant {
  std::string node{};  ///< the path of the contender's node
  /// The node's data: by default "host/process id"; `revoke_message` if a request has replaced it,
  /// see revoke.hpp.
  std::string identity{};
  /// The id of the session that the node belongs to.
  std::int64_t session = 0;
  /// When the contender entered the queue, by the leader's clock.
  std::chrono::system_clock::time_point since{};
  FencingToken token{};  ///< the token of the node's first holder; see HandOff::cohort
  /// Whether the contender is an acquire of the asking client: its node belongs to that client's
  /// session.
  bool own = false;
  /// Whether the asking client keeps the lock without a holder (`LockOptions::keep_idle_for`).
  /// Always false for contenders of other clients, where this is not known.
  bool idle = false;
};

/// Why an acquire with a limit has ended without a lease. None of these reasons is an error: the
/// acquire left no node, and a later acquire may succeed.
enum class NotAcquired {
  none,           ///< there is a lease
  blocked,        ///< another contender holds the lock, or waits ahead: see `blocked_by`
  no_answer,      ///< there is a connection, but the servers did not answer in time
  no_connection,  ///< there is no connection to the servers
  /// The time of a blocking call ran out before the client's context had ended the call: no thread
  /// runs the context, or the threads that do are busy.
  context_not_run,
};

/// The reason in one or two words: "blocked", "no answer".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(NotAcquired reason) noexcept;

/// What an acquire does when it loses its session, and so its place, while it waits.
enum class RequeuePolicy {
  /// The acquire queues again, at the end, until its deadline.
  queue_again,
  /// The acquire ends with session_lost.
  fail,
};

namespace recipes_detail {
class DeadlockDetector;
}

/// The deadlock detector that an acquire calls while it waits; made by detect_deadlock(), in
/// custodian/inspect/detect_deadlock.hpp. Null: no detection.
using DeadlockDetection = std::shared_ptr<const recipes_detail::DeadlockDetector>;

/// The options of one acquire.
struct AcquireOptions {
  /// What the acquire does when its session ends while it waits.
  RequeuePolicy requeue = RequeuePolicy::queue_again;
  /// The terms of the lease. An option that is set here overrides the lock's own.
  LeaseOptions lease{};
  /// Called whenever the place in the queue has become known or has improved, with the number of
  /// contenders ahead, and the nearest of them. Runs on the client's callback executor, perhaps
  /// even after the acquire has ended.
  std::function<void(std::size_t ahead, const Participant& nearest)> on_position{};
  /// Called when the acquire has entered the queue again, at the end, after a lost session. Runs on
  /// the client's callback executor.
  std::function<void()> on_requeued{};
  /// Ends the acquire with resource_deadlock_would_occur (of `boost::system::errc`) if it waits in
  /// a circle of processes that wait for each other: see custodian/inspect/detect_deadlock.hpp. An
  /// acquire with this option has a place in the queue of its own: it shares no waiting with
  /// others (`HandOff::cohort`, `LockOptions::keep_idle_for`, `LockOptions::share_readers`). A try
  /// ignores the option, and so does `StripedMutex::acquire_any()`, which waits in several queues.
  DeadlockDetection detect_deadlock{};
};

namespace recipes_detail {
[[nodiscard]] CUSTODIAN_EXPORT std::string explain(NotAcquired reason,
                                                   const std::optional<Participant>& blocked_by,
                                                   std::string_view path = {});
}  // namespace recipes_detail

/// The result of an acquire with a limit: a lease, or the reason why there is none.
struct [[nodiscard]] AcquireResult {
  /// The lease on the lock. Empty if the lock was not acquired.
  Lease lease{};
  /// The nearest contender ahead, as last seen. Empty if there is a lease, or if no contender was
  /// seen.
  std::optional<Participant> blocked_by{};
  /// Why there is no lease.
  NotAcquired reason = NotAcquired::none;
  /// The circle of waits as a sentence, if the acquire has ended with
  /// resource_deadlock_would_occur: see `AcquireOptions::detect_deadlock`. Empty otherwise.
  std::string deadlock{};

  /// The reason as a sentence without a full stop, for logs: "host/4711 (node /locks/a/...) is
  /// ahead". Empty if there is a lease.
  [[nodiscard]] std::string explain() const { return recipes_detail::explain(reason, blocked_by); }

  /// Whether there is a lease.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(lease); }
  /// Deleted for a temporary, whose lease would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

/// The result of an acquire of several permits with a limit: all of them, or the reason why there
/// are none.
struct [[nodiscard]] PermitsResult {
  /// As many permits as requested, or none.
  std::vector<Lease> permits{};
  /// The nearest contender ahead, or the youngest holder of a permit, as last seen. Empty if there
  /// are permits, or if no contender was seen.
  std::optional<Participant> blocked_by{};
  /// Why there are no permits.
  NotAcquired reason = NotAcquired::none;
  /// The circle of waits, as in AcquireResult.
  std::string deadlock{};

  /// The reason as a sentence, as AcquireResult::explain() gives it.
  [[nodiscard]] std::string explain() const { return recipes_detail::explain(reason, blocked_by); }

  /// Whether there are permits.
  [[nodiscard]] explicit operator bool() const& noexcept { return !permits.empty(); }
  /// Deleted for a temporary, whose permits would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

}  // namespace custodian
