#pragma once

/// \file
/// The one way in and out of every queue of contenders: the mutex, and whatever else is fair. What
/// differs between recipes is data: the rule, and the name that the contenders bear.

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "acquire/lock_paths.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

class Batch;

/// What all acquires of one lock object have in common. Immutable but for the flags.
struct Queue {
  Client client;
  std::string path;
  Rule rule;
  ContenderKind kind;  ///< of who acquires here
  Profile profile;
  std::string_view lock_name;  ///< of this kind and profile
  std::string identity;
  LeaseOptions lease;  ///< unless the acquire says otherwise
  /// Those who pass the lock on to each other; null if it goes by the queue alone.
  std::unique_ptr<Batch> batch{};
  /// As what the client's observer is told of it; null if there is none.
  detail::ObservedLockPtr observed{};
  /// Its path is that of a lock while this exists.
  LockPlacePtr place{};
  mutable std::atomic<bool> foreign_reported = false;
  mutable std::atomic<bool> end_reported = false;
  mutable std::atomic<bool> mixture_reported = false;
};

using QueuePtr = std::shared_ptr<const Queue>;

/// As what an observer is told of a lock.
struct ObservedAs {
  std::string_view recipe;
  std::string_view path;
};
inline constexpr std::string_view observed_mutex = "InterProcessMutex";
inline constexpr std::string_view observed_reader = "InterProcessReadWriteLock::read";
inline constexpr std::string_view observed_writer = "InterProcessReadWriteLock::write";

/// For a constructor of this name; throws what it is to throw. An observer is told of it as of
/// `lock` at `path`, unless it is to be told otherwise.
[[nodiscard]] QueuePtr make_queue(const Client& client, std::string_view lock, const Rule& rule,
                                  ContenderKind kind, std::string path, LockOptions options,
                                  std::optional<ObservedAs> observed_as = {});

/// How long an acquire may take.
struct Patience {
  Deadline deadline = Deadline::never();
  /// Asks once, and neither waits for a connection nor for the lock.
  bool only_try = false;
  /// If set: gives up (not_connected) when the servers have been out of reach for so long, or have
  /// not let it stand in the queue by then.
  std::optional<std::chrono::nanoseconds> reach_within{};

  /// Whether it may end without a lease and without an error.
  [[nodiscard]] bool limited() const noexcept {
    return only_try || reach_within || !deadline.is_never();
  }
};

[[nodiscard]] Patience patience_until(Deadline deadline);

/// From any thread, for an acquire that stands in the queue itself. The handler runs on the strand,
/// or at once.
///
/// `held` is empty, or what the caller has of this lock already. They get another lease on the same
/// hold, or the shared lock beside the exclusive one, or are told of the objection.
void start_acquire_within(const QueuePtr& queue, CancellationPtr cancellation, Patience patience,
                          AcquireOptions options, Lease held, Handler<AcquireResult> handler);

/// Why a lock cannot be acquired by somebody who comes with this lease: lock_lost, invalid_argument
/// (of another lock), resource_deadlock_would_occur (an upgrade).
[[nodiscard]] error_code objection_to(const Queue& queue, const Lease& held);
/// What to tell them. Nothing if there is none.
[[nodiscard]] std::string_view explain_objection(const error_code& error) noexcept;
/// Whether it is a lease on the very lock, so that it need only be shared.
[[nodiscard]] bool is_of_same_kind(const Queue& queue, const Lease& held);

}  // namespace custodian::recipes_detail
