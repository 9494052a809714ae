#pragma once

/// \file
/// RetryPolicy decides whether a failed operation is tried again, and after which pause.

#include <chrono>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// The facts about a failed operation from which a policy decides.
struct RetryAttempt {
  /// How often the operation has been retried: 0 after its first failure.
  int retries_so_far = 0;
  /// The time since the operation was called.
  std::chrono::milliseconds elapsed{0};
  /// A random number, drawn anew for each decision, evenly from [0, 1).
  double random = 0;
};

/// How often, how long and at which pace a failed operation is repeated. A policy only limits the
/// repetition of operations that *may* be repeated: after errors of the `ErrorCondition::retryable`
/// kind, and after a lost reply, once the client has looked up the outcome. The operation's
/// deadline ends the retries of every policy.
///
/// When not to use it: to limit how long a call may take (that is its `Deadline`), or to wait for
/// a lock (a contender waits in its queue and does not retry).
///
/// Threads: an immutable value; one policy may serve any number of clients and threads.
class CUSTODIAN_EXPORT RetryPolicy {
 public:
  /// The base of the default policy's pauses. The first pauses are in the order of a round trip to
  /// a remote data centre, so that the hiccup of one connection costs next to nothing. The longest
  /// pause, 3 s, bounds how late a client notices that the ensemble is back; a thousand clients
  /// together still send less than one try a millisecond. Ten retries take 9 s on average and 18 s
  /// at most: longer than the election of a leader and the restart of a server take.
  static constexpr std::chrono::milliseconds default_base{100};
  /// The longest pause of the default policy; see default_base for the reasons.
  static constexpr std::chrono::milliseconds default_max_pause{3000};
  /// How many retries of the default policy follow the first try; see default_base for the reasons.
  static constexpr int default_max_retries = 10;

  /// The default policy: exponential_backoff() with its default arguments.
  RetryPolicy() noexcept = default;

  /// One try, no retry.
  [[nodiscard]] static RetryPolicy none() noexcept;

  /// `count` retries, each after the same pause. Neither number may be negative.
  [[nodiscard]] static RetryPolicy n_times(int count, std::chrono::milliseconds pause);

  /// Retries with the same pause between them; the last one comes when `limit` has elapsed. The
  /// limit must not be negative; the pause must be positive, so that the servers are not flooded.
  [[nodiscard]] static RetryPolicy until_elapsed(std::chrono::milliseconds limit,
                                                 std::chrono::milliseconds pause);

  /// Retries with the same pause, which must be positive, until the deadline of the operation.
  [[nodiscard]] static RetryPolicy forever(std::chrono::milliseconds pause);

  /// Retries after random pauses whose range doubles: retry number n, counted from 0, comes after a
  /// pause drawn evenly from 0 to base * 2^n, or from 0 to `max_pause` if that is less. The pause
  /// is random ("full jitter") because all clients of a server lose it at the same moment, and
  /// should not all return at the same moment; see "Exponential Backoff And Jitter" in the AWS
  /// Architecture Blog. If `max_retries` is empty, only the deadline limits the retries. The base
  /// must be positive, `max_pause` not less than the base, `max_retries` not negative.
  [[nodiscard]] static RetryPolicy exponential_backoff(
      std::chrono::milliseconds base = default_base,
      std::chrono::milliseconds max_pause = default_max_pause,
      std::optional<int> max_retries = default_max_retries);

  /// A policy with the same pauses and no end, for operations that are retried until they are
  /// cancelled. If this policy has no pauses, the result has the default pauses, so that the
  /// servers are not flooded.
  [[nodiscard]] RetryPolicy unlimited() const noexcept;

  /// How long to wait before the next try; nothing if the operation must not be tried again. Values
  /// out of range (a negative count or time, a `random` outside [0, 1)) count as the nearest value
  /// in range.
  [[nodiscard]] std::optional<std::chrono::milliseconds> pause_before(
      RetryAttempt attempt) const noexcept;

  /// Whether two policies decide alike.
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) noexcept = default;

 private:
  enum class Pace { constant, doubling_with_jitter };

  Pace pace_ = Pace::doubling_with_jitter;
  std::chrono::milliseconds pause_ = default_base;
  std::chrono::milliseconds max_pause_ = default_max_pause;
  std::optional<int> max_retries_ = default_max_retries;
  std::optional<std::chrono::milliseconds> limit_;
};

}  // namespace custodian
