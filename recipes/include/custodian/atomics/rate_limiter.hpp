#pragma once

/// \file
/// RateLimiter limits how many permits a second all processes together get: for calls to a service
/// that bears no more, for instance. A process takes the permits of a moment (a *chunk*) from the
/// servers by one write, and hands them out from memory, at the rate, in the order of the calls.
///
/// **What is promised.** In any stretch of time, all processes together let through no more permits
/// than the rate gives, plus those that were saved up before (`RateLimit::burst`), plus those that
/// each process has in memory: at the most a quarter of a chunk, and a chunk or the permits that a
/// call asks for. Permits of a process that ends are lost; so are those of a write whose reply was
/// lost.
///
/// **If no server answers,** only permits in memory are let through; all other calls fail.
///
/// **Whose clock.** The time between two writes is measured by the leader's clock, which the
/// servers note with each write, in whole milliseconds; the processes' wall clocks are not used. If
/// another server has become the leader between the two writes, that time counts as zero, since the
/// two clocks may differ. If the leader's clock is set forward, the difference counts as time, up
/// to a burst; if the clock is set back, no time counts. A process waits until a permit is due by
/// its own steady clock, from the arrival of the servers' reply on.
///
/// **Order.** Permits are given in the order of the processes' writes, and each call that waits is
/// served in its turn: no acquire() starves. A call whose limit ends before its permits are due is
/// declined, and takes nothing. A process that asks for more permits gets more. A larger chunk
/// costs fewer writes, and makes other processes wait longer.
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
  /// While nobody takes permits, the permits of this time at the most are saved up, and may be let
  /// through at once.
  std::chrono::nanoseconds burst = std::chrono::seconds{1};
  /// A process takes the permits of this time at once, and at least one. 0: one by one.
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

/// Limits how many permits a second all processes together get.
/// \copydetails custodian/atomics/rate_limiter.hpp
class CUSTODIAN_EXPORT RateLimiter {
 public:
  /// `path` is a node of its own. Contacts no server. Throws Error (invalid_argument) if the path
  /// is not valid, or is the root; if the rate is not positive, or too great; or if a time is
  /// negative.
  RateLimiter(const Client& client, std::string path, RateLimit limit);

  /// The path of the node.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Permits
  /// `permits` is 1 or more, and no more than the rate gives in a day; anything else throws at once
  /// (invalid_argument), in both forms.
  ///
  /// Errors, for all: those common to all operations of a Client, if permits have to be taken from
  /// the servers, and this does not succeed within `ClientOptions::operation_timeout`;
  /// malformed_data, if the node holds something else; closed, also while the client drains. No
  /// outcome is unknown: a call that ends with an error has no permit.
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
  /// Otherwise takes nothing: a process that only tries now and then, and ends, costs the other
  /// processes no permits.
  /// Completes with: error, whether the call has the permits.
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

  /// Waits until the permits are due, if that is no later than the deadline; otherwise takes
  /// nothing, and completes with false as soon as that is known. If the deadline has passed
  /// already, only permits in memory are taken. A default deadline is
  /// `ClientOptions::operation_timeout` from the call.
  /// Completes with: error, whether the call has the permits.
  /// Errors: those of this group; deadline_exceeded, if no server has answered by the deadline.
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
