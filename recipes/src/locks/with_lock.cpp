#include "custodian/locks/with_lock.hpp"

#include <algorithm>

#include "acquire/acquire.hpp"
#include "acquire/not_acquired.hpp"
#include "async/block_in_time.hpp"
#include "kept/kept_locks.hpp"
#include "locks/acquire_failure.hpp"

// A call under a lock enters in these steps, blocking in enter() and as a coroutine in co_enter():
//
// 1. Wait for a connection, if there is none and that wait has a limit of its own.
// 2. Acquire the lock.
// 3. Judge the outcome: the lock, a busy lock, or ZooKeeper is away.
// 4. If ZooKeeper is away, use the fallback, if there is one.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

AcquireFailure acquire_failure(const AcquireEvidence& seen) noexcept {
  if (seen.error && !is_lack_of_answer(seen.error)) return AcquireFailure::failed;
  // With a connection the servers were merely slow, or are back, and the lock's holder may be
  // alive.
  if (seen.somebody_ahead || seen.connected) return AcquireFailure::busy;
  return AcquireFailure::away;
}

namespace {

using std::chrono::nanoseconds;

nanoseconds wait_of(const Client& client, const WithLockOptions& options) {
  // The wait is limited, because a fallback's lock may add it to its clock without a check for
  // overflow.
  constexpr nanoseconds most = std::chrono::hours{24 * 365};
  const nanoseconds wait =
      options.wait ? *options.wait : client.deadline_or_default(Deadline{}).remaining();
  return std::clamp(wait, nanoseconds{0}, most);
}

/// Observers see the name of the class by which other callers use the same lock.
std::string_view observed_recipe(LockKind kind) {
  switch (kind) {
    case LockKind::mutex: return observed_mutex;
    case LockKind::read: return observed_reader;
    case LockKind::write: return observed_writer;
  }
  return {};
}

LockSpecPtr spec_of(const Client& client, const std::string& path, const WithLockOptions& options) {
  LockOptions terms = options.lock;
  if (options.hold_at_most) terms.lease.hold_at_most = options.hold_at_most;
  if (options.hold_at_most) {
    // `hold_at_most` ends the node of the lease, so no other holder may share the node or get it
    // next.
    terms.hand_off = HandOff::strict();
    terms.keep_idle_for = {};
    terms.share_readers = 1;
  }
  const NamingRule& rule = options.kind == LockKind::mutex ? mutex_rule : read_write_rule;
  const auto kind =
      options.kind == LockKind::read ? ContenderKind::shared : ContenderKind::exclusive;
  return make_kept_lock_spec(client, "with_lock", rule, kind, path, std::move(terms),
                             ObservedAs{observed_recipe(options.kind), path});
}

/// The limit of the wait for a connection. Nothing if the client is connected, or if that wait has
/// no shorter limit of its own.
std::optional<OperationOptions> connection_limit(const Client& client,
                                                 const WithLockOptions& options, nanoseconds wait) {
  const bool apart = options.connection_wait && *options.connection_wait < wait;
  if (!apart || is_connected(client.connection_state())) return std::nullopt;
  return OperationOptions{Deadline{*options.connection_wait}, client.retry_policy().unlimited()};
}

/// Whether to enter the queue after the wait for a connection. The connection may have come just
/// after that wait failed.
bool is_in_reach(const Client& client, error_code waited) {
  if (!waited) return true;
  return acquire_failure({.error = waited}) == AcquireFailure::away &&
         is_connected(client.connection_state());
}

error_code busy() { return make_error_code(boost::system::errc::device_or_resource_busy); }

/// The end of a call that may not run its function: throws, or skips the function.
LockedEntry otherwise(const Client& client, Otherwise what, const std::string& path,
                      error_code error, AcquireResult result, std::string_view why = {}) {
  if (what == Otherwise::fail) throw_if(*client.core(), error, "with_lock", path, why);
  return {
      .under = Under::nothing, .blocked_by = std::move(result.blocked_by), .reason = result.reason};
}

/// The outcome of an acquire: the lock, or a skipped call; nothing if a fallback is to be tried.
std::optional<LockedEntry> judge(const Client& client, const std::string& path,
                                 const WithLockOptions& options, error_code error,
                                 AcquireResult result, bool connected) {
  if (result) return LockedEntry{.under = Under::lock, .lease = std::move(result.lease)};
  const bool somebody_ahead =
      result.reason == NotAcquired::blocked || result.reason == NotAcquired::context_not_run;
  const AcquireFailure answer =
      acquire_failure({.error = error, .somebody_ahead = somebody_ahead, .connected = connected});
  if (result.reason == NotAcquired::none) result.reason = why_not_acquired(false, connected);
  switch (answer) {
    case AcquireFailure::failed: throw Error{error, "with_lock", path};
    case AcquireFailure::busy: {
      const std::string why =
          result.blocked_by ? result.blocked_by->identity + " is ahead" : result.explain();
      return otherwise(client, options.when_busy, path, busy(), std::move(result), why);
    }
    case AcquireFailure::away: break;
  }
  if (options.fallback || options.async_fallback) return std::nullopt;
  return otherwise(client, options.when_away, path,
                   error ? error : make_error_code(Errc::not_connected), std::move(result));
}

/// The outcome after the wait for the fallback; `held` is null if another caller holds the
/// fallback. Throws if the call was stopped meanwhile, or if the client has become unusable, even
/// if `held` is set.
LockedEntry under_fallback(const Client& client, const std::string& path,
                           const WithLockOptions& options, std::shared_ptr<void> held) {
  if (options.stop.stop_requested()) {
    throw Error{asio::error::operation_aborted, "with_lock", path,
                "while the fallback was waited for"};
  }
  if (const error_code why = client.unusable()) {
    throw Error{why, "with_lock", path, "while the fallback was waited for"};
  }
  if (held) {
    return {.under = Under::fallback,
            .fallback = std::move(held),
            .reason = NotAcquired::no_connection};
  }
  return otherwise(client, options.when_busy, path, busy(), {.reason = NotAcquired::blocked},
                   "ZooKeeper does not answer, and somebody else holds the fallback");
}

void refuse(bool wrong, const std::string& path, std::string_view why) {
  if (wrong) throw Error{Errc::invalid_argument, "with_lock", path, why};
}

}  // namespace

LossReason LockedEntry::leave(std::string_view path, WhenLost when_lost) {
  const bool lost = lease && lease.state() == LeaseState::lost;
  const LossReason loss = lost ? lease.loss_reason() : LossReason::none;
  lease.release();
  fallback.reset();
  if (lost && when_lost == WhenLost::fail) {
    throw Error{Errc::lock_lost, "with_lock", path,
                "before the function had ended: " + std::string{to_string(loss)}};
  }
  return loss;
}

LockedEntry enter(const Client& client, const std::string& path, const WithLockOptions& options) {
  refuse(static_cast<bool>(options.async_fallback), path,
         "async_fallback: it is for co_with_lock(); a blocking call takes `fallback`");
  refuse_stopped(options.stop, "with_lock", path);
  const LockSpecPtr spec = spec_of(client, path, options);
  const nanoseconds wait = wait_of(client, options);
  const Deadline deadline{wait};
  // A call without time to wait asks the servers once, and waits for the answer.
  const WaitLimit limit = WaitLimit{deadline}.from_now();

  // It is unknown whether another contender holds the lock, so the lock counts as busy.
  const auto not_run = [&] {
    AcquireResult nothing{.reason = NotAcquired::context_not_run};
    const std::string why = nothing.explain();
    return otherwise(client, options.when_busy, path, busy(), std::move(nothing), why);
  };
  if (Lease kept = take_kept(*spec, "with_lock", {})) {
    return {.under = Under::lock, .lease = std::move(kept)};
  }
  error_code error;
  AcquireResult result;
  bool connected = false;
  if (const auto connecting = connection_limit(client, options, wait)) {
    // A context counts as not run only at the call's own deadline: after a short wait for a
    // connection it may merely be late.
    const auto waited = block_until<&start_wait_connected>(client.core(), "with_lock", path,
                                                           options.stop, deadline, *connecting);
    if (!waited) return not_run();
    std::tie(error) = *waited;
  }
  if (is_in_reach(client, error)) {
    auto outcome = block_until<&start_acquire, AcquireResult>(client.core(), "with_lock", path,
                                                              options.stop, end_of(client, limit),
                                                              spec, limit, AcquireOptions{});
    if (!outcome) return not_run();
    std::tie(error, result) = std::move(*outcome);
    connected = is_connected(client.connection_state());
  }
  if (auto entry = judge(client, path, options, error, std::move(result), connected)) {
    return std::move(*entry);
  }
  return under_fallback(client, path, options, options.fallback.hold(path, wait));
}

asio::awaitable<LockedEntry> co_enter(std::shared_ptr<Client> client, std::string path,
                                      WithLockOptions options) {
  refuse(static_cast<bool>(options.fallback), path,
         "fallback: it would block; a coroutine takes `async_fallback`");
  refuse(options.stop.stop_possible(), path, "stop: a coroutine is stopped by its cancellation");
  const LockSpecPtr spec = spec_of(*client, path, options);
  const nanoseconds wait = wait_of(*client, options);
  const Deadline deadline{wait};
  const auto token = asio::as_tuple(asio::use_awaitable);

  error_code error;
  AcquireResult result;
  bool connected = false;
  if (const auto limit = connection_limit(*client, options, wait)) {
    std::tie(error) = co_await client->async_wait_connected(*limit, token);
  }
  if (is_in_reach(*client, error)) {
    AcquireOptions plain;
    std::tie(error, result) = co_await initiate<void(error_code, AcquireResult), &start_acquire>(
        client->core(), token, spec, WaitLimit{deadline}, plain);
    connected = is_connected(client->connection_state());
  }
  if (auto entry = judge(*client, path, options, error, std::move(result), connected)) {
    co_return std::move(*entry);
  }
  auto falling_back = options.async_fallback(path, wait);
  std::shared_ptr<void> held = co_await std::move(falling_back);
  co_return under_fallback(*client, path, options, std::move(held));
}

}  // namespace custodian::recipes_detail
