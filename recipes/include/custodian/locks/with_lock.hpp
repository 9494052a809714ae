#pragma once

/// \file
/// with_lock() runs a function under a lock. Its options say what happens if the lock cannot be
/// acquired, or is lost.
///
///     const auto call = with_lock(client, "/jobs/report",
///                                 {.wait = 2s, .when_busy = Otherwise::skip}, [&] { report(); });
///     if (!call) log("somebody else makes the report");
///
/// with_lock() distinguishes two reasons why the lock was not acquired. *Busy* means that another
/// contender holds the lock, or may hold it: the wait is over, and there is a connection, or a
/// contender was seen ahead, or no thread has run the client's context in time. Then the function
/// does not run: it is skipped, or an error is thrown. *Away* means that the wait is over, there is
/// no connection, and no holder was seen. Then the function may run under a fallback: any lock that
/// does not need ZooKeeper. A slow server does not count as away: if its answer takes longer than
/// the wait, even a free lock counts as busy.
///
/// A fallback excludes other holders of the same fallback, and *nobody else*. If only this process
/// is cut off, other processes go on at the same time under ZooKeeper's lock; and when ZooKeeper
/// comes back, the next holder does not see a call that still runs under the fallback. So a
/// fallback is for work that may run twice now and then, or for processes that all lose ZooKeeper
/// at the same time. Where two runs at once do harm, do not set a fallback.
///
/// When not to use it: for a lock that outlives a function, or is passed on (use a Lease); for
/// re-entry, since a call nested in another on the same path finds the lock busy: the outer call
/// holds it. A nested call on another path is fine. But if both calls use one fallback for all
/// paths, the nested call waits for the outer one when ZooKeeper is away, for ever if that fallback
/// has no try_lock_for(): use Fallback::by_path().
///
/// A lock's path must never be below that of another lock: a node whose name looks like a
/// contender's ("x-lock-0000000000") would count as a contender of the other lock.
///
/// Threads: any. Lifetimes: the client may be destroyed first (calls then fail with closed).

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/fallback.hpp"
#include "custodian/locks/inter_process_lock.hpp"

namespace custodian {

/// What happens if the function cannot run under the lock.
enum class Otherwise {
  fail,  ///< the call throws an Error
  skip,  ///< the call returns without running the function
};

/// What happens if the lock was lost before the function had ended.
enum class WhenLost {
  fail,         ///< the call throws an Error (lock_lost) when the function has ended
  is_reported,  ///< the call returns, and `LockedCall::loss` has the reason
};

/// Which lock a function runs under: a mutex, or a side of a read/write lock.
enum class LockKind { mutex, read, write };

/// The options of with_lock() and co_with_lock().
struct WithLockOptions {
  /// How long to wait for the lock. Zero or less: the call takes the lock only if it is free. The
  /// wait for a fallback may then take as long again. Default: `ClientOptions::operation_timeout`.
  std::optional<std::chrono::nanoseconds> wait{};
  /// How much of `wait` to spend on waiting for a connection, if there is none: after that,
  /// ZooKeeper counts as away. Default: all of `wait`; then each call takes that long while
  /// ZooKeeper is away.
  std::optional<std::chrono::nanoseconds> connection_wait{};
  /// The lock is released after this long, even while the function runs; `Lease::lost()` notifies
  /// the function. This does not apply to a fallback. Default: no limit.
  std::optional<std::chrono::nanoseconds> hold_at_most{};

  /// What to do if another contender holds the lock or the fallback, or if the lock was not
  /// acquired in time.
  Otherwise when_busy = Otherwise::fail;
  /// What to do if there is no connection to ZooKeeper, and no fallback.
  Otherwise when_away = Otherwise::fail;
  /// The lock that with_lock() uses when ZooKeeper is away.
  Fallback fallback{};
  /// The lock that co_with_lock() uses when ZooKeeper is away.
  AsyncFallback async_fallback{};
  /// Whether a loss while the function runs is an error.
  WhenLost when_lost = WhenLost::fail;

  /// Which lock to acquire: a mutex, or a side of a read/write lock.
  LockKind kind = LockKind::mutex;
  /// The lock's other options. If the `hold_at_most` above is set, it overrides the one in these
  /// options, and `hand_off`, `keep_idle_for` and `share_readers` do not apply, since the node ends
  /// with the call.
  LockOptions lock{};
  /// A stop ends the wait with operation_aborted. For with_lock() only. A stop does not end the
  /// wait for a fallback, since not every lock supports that; but once that wait is over, the
  /// fallback is released, and the function does not run.
  std::stop_token stop{};
};

/// What a function ran under.
enum class Under { lock, fallback, nothing };

/// The outcome of a call of with_lock() or co_with_lock().
template <typename Value>
struct [[nodiscard]] LockedCall {
  /// The type of `value`: std::monostate for a function that returns nothing.
  using Stored = std::conditional_t<std::is_void_v<Value>, std::monostate, Value>;

  /// What the function ran under, if it ran.
  Under under = Under::nothing;
  /// The value that the function returned; nothing if it did not run.
  std::optional<Stored> value{};
  /// Why the lock was lost before the function had ended; none if it was not.
  LossReason loss = LossReason::none;
  /// The contender that was in the way, if one was seen.
  std::optional<Participant> blocked_by{};
  /// Why the function did not run under the lock; none if it did.
  NotAcquired reason = NotAcquired::none;

  /// The reason as a sentence, as AcquireResult::explain() gives it.
  [[nodiscard]] std::string explain() const { return recipes_detail::explain(reason, blocked_by); }

  /// Whether the function ran.
  [[nodiscard]] explicit operator bool() const noexcept { return under != Under::nothing; }
};

namespace recipes_detail {

/// The lock, or the fallback, of a call. Destroying this object releases it.
struct CUSTODIAN_EXPORT LockedEntry {
  Under under = Under::nothing;
  Lease lease{};
  std::shared_ptr<void> fallback{};
  std::optional<Participant> blocked_by{};
  NotAcquired reason = NotAcquired::none;

  /// Releases the lock or fallback, and returns why the lock was lost before, if it was; throws
  /// lock_lost if `when_lost` asks for that.
  LossReason leave(std::string_view path, WhenLost when_lost);
};

[[nodiscard]] CUSTODIAN_EXPORT LockedEntry enter(const Client& client, const std::string& path,
                                                 const WithLockOptions& options);
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::awaitable<LockedEntry> co_enter(
    std::shared_ptr<Client> client, std::string path, WithLockOptions options);

/// Calls a function that takes the lease, or one that does not.
template <typename Function>
decltype(auto) call_with(Function& function, const Lease& lease) {
  if constexpr (std::invocable<Function&, const Lease&>) {
    return function(lease);
  } else {
    return function();
  }
}
template <typename Function>
using ResultOf = decltype(call_with(std::declval<Function&>(), std::declval<const Lease&>()));

template <typename Awaitable>
struct Awaited;
template <typename Value, typename Executor>
struct Awaited<boost::asio::awaitable<Value, Executor>> {
  using type = Value;
};
/// Whether a function's result must be awaited.
template <typename Result>
concept Awaitable = requires {
  typename Awaited<std::remove_cvref_t<Result>>::type;
};

template <typename Value, typename Function>
boost::asio::awaitable<LockedCall<Value>> co_run(std::shared_ptr<Client> client, std::string path,
                                                 WithLockOptions options, Function function) {
  LockedEntry entry = co_await co_enter(client, path, options);
  LockedCall<Value> call{
      .under = entry.under, .blocked_by = std::move(entry.blocked_by), .reason = entry.reason};
  if (!call) co_return call;
  auto running = call_with(function, entry.lease);
  if constexpr (std::is_void_v<Value>) {
    co_await std::move(running);
    call.value.emplace();
  } else {
    Value value = co_await std::move(running);
    call.value.emplace(std::move(value));
  }
  call.loss = entry.leave(path, options.when_lost);
  co_return call;
}

}  // namespace recipes_detail

/// Runs the function under the lock at the path, in this thread. The function may take the lease
/// (`const Lease&`), for `lost()`, `token()` and `check()`; under a fallback the lease is empty. If
/// the function throws, the call releases the lock and passes the exception on; a loss is then not
/// reported.
///
/// Errors: device_or_resource_busy (*busy*; the message names the holder, if known); not_connected,
/// deadline_exceeded (*away*; not thrown with skip or a fallback); lock_lost (see `when_lost`);
/// and, whatever the options, all other errors of an acquire: closed, operation_aborted,
/// invalid_argument, no_auth, would_deadlock and so on. A closing client does not count as away: no
/// new call may begin, and the call checks the client again when it has acquired the fallback. A
/// contender that was seen ahead before ZooKeeper went away counts as the holder (*busy*) until
/// this client's own session has ended; by then the contender's session may have ended, too.
template <typename Function>
auto with_lock(const Client& client, const std::string& path, const WithLockOptions& options,
               Function&& function) {
  using Value = std::decay_t<recipes_detail::ResultOf<Function>>;
  static_assert(!recipes_detail::Awaitable<Value>,
                "with_lock() would end before this coroutine begins: co_with_lock() awaits it");
  recipes_detail::LockedEntry entry = recipes_detail::enter(client, path, options);
  LockedCall<Value> call{
      .under = entry.under, .blocked_by = std::move(entry.blocked_by), .reason = entry.reason};
  if (!call) return call;
  if constexpr (std::is_void_v<Value>) {
    recipes_detail::call_with(function, entry.lease);
    call.value.emplace();
  } else {
    call.value.emplace(recipes_detail::call_with(function, entry.lease));
  }
  call.loss = entry.leave(path, options.when_lost);
  return call;
}

/// with_lock() for a coroutine. The function returns an awaitable, which is awaited under the lock.
/// co_with_lock() itself returns an awaitable of LockedCall; awaiting that throws the errors of
/// with_lock(), also those for wrong options. Copies its arguments; objects that the function
/// refers to must outlive the call. With g++ 12 the options must be a named object: options that
/// are written in place, as `{.wait = 2s}` in the `co_await` expression, are destroyed twice by
/// that compiler, which ends the process.
/// Cancellation: that of the awaiting coroutine. A cancelled wait for the lock leaves no node;
/// while the function runs, the function itself handles the cancellation.
/// Executor: the awaiting coroutine's.
template <typename Function>
auto co_with_lock(const Client& client, std::string path, WithLockOptions options,
                  Function function) {
  static_assert(recipes_detail::Awaitable<recipes_detail::ResultOf<Function>>,
                "co_with_lock() takes a function that gives an asio::awaitable");
  using Value = typename recipes_detail::Awaited<recipes_detail::ResultOf<Function>>::type;
  return recipes_detail::co_run<Value>(std::make_shared<Client>(client.share()), std::move(path),
                                       std::move(options), std::move(function));
}

/// Makes a function that calls with_lock() whenever it is called. The path is built from the call's
/// arguments: `path_of_call(arguments...)`, which should use path_of().
///
///     auto sell = locked(client, [](int order) { return path_of("/orders/{}/stock", order); },
///                        {.wait = 2s}, [&](const Lease& lease, int order) { ... });
///     const auto call = sell(17);
///
/// `function` takes the arguments, or the lease and then the arguments. `path_of_call` and
/// `function` get the arguments as constants. The returned object may be copied, and called by
/// several threads at once, if `path_of_call` and `function` may.
template <typename PathOfCall, typename Function>
auto locked(const Client& client, PathOfCall path_of_call, WithLockOptions options,
            Function function) {
  return [client = std::make_shared<const Client>(client.share()),
          path_of_call = std::move(path_of_call), options = std::move(options),
          function = std::move(function)](const auto&... arguments) {
    return with_lock(
        *client, path_of_call(arguments...), options, [&](const Lease& lease) -> decltype(auto) {
          if constexpr (std::invocable<const Function&, const Lease&, decltype(arguments)...>) {
            return function(lease, arguments...);
          } else {
            return function(arguments...);
          }
        });
  };
}

}  // namespace custodian
