#pragma once

/// \file
/// RateLimiter lets so many permits a second through, of all processes together: calls to a service
/// that endures no more, for instance. A process takes the permits of a moment (a *chunk*) from the
/// servers by one write, and hands them out from memory, at the rate, in the order of the calls.
///
/// **What is promised.** In any stretch of time all processes together let through no more than
/// what the rate gives, and besides what was saved up before (`RateLimit::burst`) and what each
/// process has in memory (a chunk, or what a call asks for, and a quarter of a chunk at the most).
/// Permits of a process that ends are lost; so are those of a write whose reply was lost.
///
/// **If no server answers** nothing is let through but what is in memory: the calls fail.
///
/// **Whose clock.** Between two writes the leader's clock counts, as the servers note it with each
/// write, in whole milliseconds; no process' wall clock does. If another server leads meanwhile the
/// time between counts as none, since its clock may be another one. If the leader's clock is set
/// forward, that counts as time, up to a burst; if it is set back, as none. When a permit is due a
/// process waits by its own steady clock, from the arrival of the servers' reply on.
///
/// **Order.** The writes of the processes decide, and each that waits is served in its turn: no
/// acquire() is starved. A call that does not wait long enough is declined, and takes nothing. One
/// that asks for more gets more. A larger chunk costs fewer writes, and lets the others wait
/// longer.
///
/// When not to use it: for a limit that must hold in one process alone; for money (count with a
/// DistributedAtomicLong); for more than some hundreds of chunks a second.
///
/// Threads: any. Lifetimes: a handle, which may be copied; copies share their permits. The client
/// may be destroyed first (closed).

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// The rate of a RateLimiter. All processes name the same one.
struct RateLimit {
  /// More than 0, up to a thousand million.
  double permits_per_second = 1;
  /// While nobody takes permits, those of so long are saved up, and may be let through at once.
  std::chrono::nanoseconds burst = std::chrono::seconds{1};
  /// A process takes the permits of so long at once: one at the least. 0: one by one.
  std::chrono::nanoseconds chunk = std::chrono::milliseconds{100};
};

namespace recipes_detail {
class PermitSource;
using PermitSourcePtr = std::shared_ptr<PermitSource>;

CUSTODIAN_EXPORT void start_acquire_at_rate(CorePtr core, CancellationPtr cancellation,
                                            PermitSourcePtr source, std::int64_t permits,
                                            Handler<> handler);
CUSTODIAN_EXPORT void start_try_acquire_at_rate(CorePtr core, CancellationPtr cancellation,
                                                PermitSourcePtr source, std::int64_t permits,
                                                Handler<bool> handler);
CUSTODIAN_EXPORT void start_try_acquire_at_rate_until(CorePtr core, CancellationPtr cancellation,
                                                      PermitSourcePtr source, std::int64_t permits,
                                                      Deadline until, Handler<bool> handler);
/// Throws Error (invalid_argument).
CUSTODIAN_EXPORT void check_permits(const PermitSourcePtr& source, std::int64_t permits);
}  // namespace recipes_detail

/// Lets so many permits a second through, of all processes together.
/// \copydetails custodian/atomics/rate_limiter.hpp
class CUSTODIAN_EXPORT RateLimiter {
 public:
  /// `path` is a node of its own. Contacts no server. Throws Error (invalid_argument) if the path
  /// is none, or the root, or the rate is not positive, or a time is negative.
  RateLimiter(const Client& client, std::string path, RateLimit limit);

  /// The path of the node.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Permits
  /// `permits` is 1 or more, and no more than the rate gives in a day; anything else throws at once
  /// (invalid_argument), in both forms.
  ///
  /// Errors, for all: those common to all operations of a Client, if permits have to be taken from
  /// the servers and they do not give them within `ClientOptions::operation_timeout`;
  /// malformed_data, if the node holds something else; closed, also while the client drains.
  /// No outcome is unknown: who gets an error has no permit.
  /// Cancellation, for all: total; permits that were meant for the call stay in memory.
  /// Executor, for all: the handler's, or the client's callback executor.
  /// \{

  /// Waits until the permits are due, as long as it takes.
  /// Completes with: error.
  template <typename Token>
  auto async_acquire(std::int64_t permits, Token&& token) {
    recipes_detail::check_permits(source_, permits);
    return initiate<void(error_code), &recipes_detail::start_acquire_at_rate>(
        core_, std::forward<Token>(token), source_, permits);
  }
  /// The same for one permit.
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(1, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  void acquire(std::int64_t permits = 1, std::stop_token stop = {});

  /// Takes the permits if they are due now: from memory, or after one or two writes to the servers.
  /// Otherwise it takes nothing: a process that asks now and then, and ends, costs the others none.
  /// Completes with: error, whether it has them.
  template <typename Token>
  auto async_try_acquire(std::int64_t permits, Token&& token) {
    recipes_detail::check_permits(source_, permits);
    return initiate<void(error_code, bool), &recipes_detail::start_try_acquire_at_rate>(
        core_, std::forward<Token>(token), source_, permits);
  }
  /// The same for one permit.
  template <typename Token>
  auto async_try_acquire(Token&& token) {
    return async_try_acquire(1, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] bool try_acquire(std::int64_t permits = 1);

  /// Waits until the permits are due, if that is no later than the deadline; otherwise it takes
  /// nothing, and completes with false as soon as that is known. A deadline that has passed: only
  /// what is in memory. Completes with: error, whether it has them. deadline_exceeded, if no server
  /// has answered by then.
  template <typename Token>
  auto async_try_acquire_for(std::int64_t permits, Deadline limit, Token&& token) {
    recipes_detail::check_permits(source_, permits);
    return initiate<void(error_code, bool), &recipes_detail::start_try_acquire_at_rate_until>(
        core_, std::forward<Token>(token), source_, permits, limit);
  }
  /// The same for one permit.
  template <typename Token>
  auto async_try_acquire_for(Deadline limit, Token&& token) {
    return async_try_acquire_for(1, limit, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] bool try_acquire_for(std::int64_t permits, Deadline limit);
  /// The same for one permit.
  [[nodiscard]] bool try_acquire_for(Deadline limit) { return try_acquire_for(1, limit); }
  /// \}

 private:
  CorePtr core_;
  recipes_detail::PermitSourcePtr source_;
};

}  // namespace custodian
