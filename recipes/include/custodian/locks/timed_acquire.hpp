#pragma once

/// \file
/// TimedAcquire is the lease face of every lock: one acquire in all its forms, blocking and
/// asynchronous, with and without a limit. A lock derives from TimedAcquire, and gives it one
/// function that begins an acquire and one that waits for it.
///
/// When not to use it: as the user of a lock. This class is for authors of locks.

#include <chrono>
#include <stop_token>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/wait_limit.hpp"

namespace custodian {

/// The blocking acquires of a lock. An acquire without a limit returns a `Held`, one with a limit a
/// `Tried`.
///
/// `Derived` provides, to this class as a friend: `held`, a pointer to the member of `Tried` that
/// is a `Held`; and `Tried acquire_within(std::string_view operation, const WaitLimit&,
/// AcquireOptions, std::stop_token)`, which waits, and throws an Error that names the operation.
/// `Derived` may also have a `refuse_deadlock()`, which throws if an acquire without limit would
/// wait for its own thread.
///
/// Threads: those of `Derived`.
template <typename Derived, typename Held, typename Tried>
class BlockingAcquire {
 public:
  /// Acquires the lock. Waits for it without limit: through disconnections, and through a lost
  /// session unless RequeuePolicy says otherwise. `stop` ends the wait with operation_aborted; if a
  /// stop was requested before the call, nothing is acquired. Throws Error.
  ///
  /// Errors of this function and of all others of this class: closed (also while the client is
  /// being closed), no_auth, invalid_argument (a maximum time that is not positive),
  /// session_timeout_too_short, session_lost (with RequeuePolicy::fail), node_deleted (an operator
  /// removed the waiter's node; a waiter behind another contender of its client is notified only
  /// when its turn comes), sequence_exhausted, malformed_contender, resource_deadlock_would_occur
  /// (with `AcquireOptions::detect_deadlock`), operation_aborted, and any error that the server
  /// reports. An acquire that ends without a lease leaves no node, whenever and however it ends.
  [[nodiscard]] Held acquire(AcquireOptions options, std::stop_token stop = {}) {
    self().refuse_deadlock();
    return std::move(self().acquire_within("acquire", {}, std::move(options), std::move(stop)).*
                     Derived::held);
  }
  /// acquire() with default options.
  [[nodiscard]] Held acquire(std::stop_token stop = {}) {
    return acquire(AcquireOptions{}, std::move(stop));
  }

  /// Acquires the lock if it is free and has no waiters. Asks the servers once, and waits for the
  /// answer as long as any operation does (`ClientOptions::operation_timeout`). Without a
  /// connection the try ends at once. An empty result says why (`reason`, `explain()`); a busy
  /// machine, a slow server or a missing connection is never an error here. Throws Error as
  /// acquire() does.
  [[nodiscard]] Tried try_acquire(AcquireOptions options = {}) {
    return self().acquire_within("try_acquire", {.try_once = true}, std::move(options), {});
  }

  /// Acquires the lock. Waits for it until the deadline. Running out of time is no error, whatever
  /// the cause: the empty result says whether a contender is ahead, the servers did not answer,
  /// there is no connection, or no thread runs the client's context. This blocking form ends a
  /// tenth of a second after the deadline at the latest. If the deadline has passed already, this
  /// function does what try_acquire() does. `stop` and the errors are those of acquire().
  [[nodiscard]] Tried try_acquire_until(Deadline deadline, AcquireOptions options,
                                        std::stop_token stop = {}) {
    return self().acquire_within("try_acquire_until", {.deadline = deadline}, std::move(options),
                                 std::move(stop));
  }
  /// try_acquire_until() with default options.
  [[nodiscard]] Tried try_acquire_until(Deadline deadline, std::stop_token stop = {}) {
    return try_acquire_until(deadline, AcquireOptions{}, std::move(stop));
  }
  /// try_acquire_until() with a duration from now: `try_acquire_for(2s)`.
  [[nodiscard]] Tried try_acquire_for(std::chrono::nanoseconds wait, AcquireOptions options,
                                      std::stop_token stop = {}) {
    return try_acquire_until(Deadline{wait}, std::move(options), std::move(stop));
  }
  /// try_acquire_for() with default options.
  [[nodiscard]] Tried try_acquire_for(std::chrono::nanoseconds wait, std::stop_token stop = {}) {
    return try_acquire_for(wait, AcquireOptions{}, std::move(stop));
  }

 protected:
  /// Called by `Derived`.
  BlockingAcquire() = default;

 private:
  static void refuse_deadlock() noexcept {}
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

namespace recipes_detail {
/// Calls `Start` for an acquire without limit, whose handler gets only the `Held`.
template <auto Start, auto Held>
struct WithoutLimit {
  template <typename Spec, typename Completion>
  void operator()(CorePtr core, CancellationPtr cancellation, Spec spec, AcquireOptions options,
                  Completion handler) const {
    Start(std::move(core), std::move(cancellation), std::move(spec), WaitLimit{},
          std::move(options),
          [handler = std::move(handler)](error_code error, auto result) mutable {
            std::move(handler)(error, std::move(result.*Held));
          });
  }
};
}  // namespace recipes_detail

/// All acquires of a lock: the blocking ones of BlockingAcquire, and their asynchronous forms.
///
/// Besides the members that BlockingAcquire needs, `Derived` provides: `core_`, the core of the
/// client that runs the acquire; `spec_`, the description of the lock; and `start`, a pointer to
/// the compiled function that begins the acquire: `void(CorePtr, CancellationPtr, Spec, WaitLimit,
/// AcquireOptions, Handler<Tried>)`, which may be called on any thread.
template <typename Derived, typename Held, typename Tried>
class TimedAcquire : public BlockingAcquire<Derived, Held, Tried> {
 public:
  /// The asynchronous form of acquire().
  /// Completes with: error, lease; a try completes with: error, result. For a set of locks the
  /// lease is a LeaseGroup.
  /// Cancellation: total. A lease that is granted after the cancellation is released again.
  /// Errors: those of acquire().
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_acquire(AcquireOptions options, Token&& token) {
    return initiate<void(error_code, Held),
                    recipes_detail::WithoutLimit<Derived::start, Derived::held>{}>(
        self().core_, std::forward<Token>(token), self().spec_, std::move(options));
  }
  /// async_acquire() with default options.
  template <typename Token>
  auto async_acquire(Token&& token) {
    return async_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire(AcquireOptions options, Token&& token) {
    return begin_acquire(WaitLimit{.try_once = true}, std::move(options),
                         std::forward<Token>(token));
  }
  /// async_try_acquire() with default options.
  template <typename Token>
  auto async_try_acquire(Token&& token) {
    return async_try_acquire(AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_until(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, AcquireOptions options, Token&& token) {
    return begin_acquire(WaitLimit{.deadline = deadline}, std::move(options),
                         std::forward<Token>(token));
  }
  /// async_try_acquire_until() with default options.
  template <typename Token>
  auto async_try_acquire_until(Deadline deadline, Token&& token) {
    return async_try_acquire_until(deadline, AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_for(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire_for(std::chrono::nanoseconds wait, AcquireOptions options, Token&& token) {
    return async_try_acquire_until(Deadline{wait}, std::move(options), std::forward<Token>(token));
  }
  /// async_try_acquire_for() with default options.
  template <typename Token>
  auto async_try_acquire_for(std::chrono::nanoseconds wait, Token&& token) {
    return async_try_acquire_for(wait, AcquireOptions{}, std::forward<Token>(token));
  }

 protected:
  /// Called by `Derived`.
  TimedAcquire() = default;

 private:
  [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
  template <typename Token>
  auto begin_acquire(const WaitLimit& limit, AcquireOptions options, Token&& token) {
    return initiate<void(error_code, Tried), Derived::start>(
        self().core_, std::forward<Token>(token), self().spec_, limit, std::move(options));
  }
};

}  // namespace custodian
