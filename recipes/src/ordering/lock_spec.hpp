#pragma once

/// \file
/// LockSpec is the data of a lock object: its path, its rule, and the name that its contenders
/// bear. Recipes differ in these data.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "ordering/contender_order.hpp"
#include "ordering/lock_paths.hpp"

namespace custodian::recipes_detail {

class KeptLock;
class SharedReaders;

/// The common part of all acquires of one lock object. Immutable except the flags.
struct LockSpec {
  Client client;
  std::string path;
  NamingRule rule;
  ContenderKind kind;  ///< the kind of this lock's contenders
  NamingProfile profile;
  std::string_view lock_name;  ///< the lock name for this kind and profile
  std::string identity;
  LeaseOptions lease;  ///< the terms of a lease, unless the acquire has its own
  /// Passes the lock on within the client, without asking the servers; null if every acquire asks
  /// them.
  std::shared_ptr<KeptLock> kept{};
  /// The same for readers that share nodes; null if every acquire asks the servers.
  std::shared_ptr<SharedReaders> readers{};
  /// The place of the holders' nodes, if these are not in the queue: a semaphore's permits.
  std::shared_ptr<const LockSpec> permits{};
  /// The lock's name in an observer's events; null if the client has no observer.
  ObservedLockPtr observed{};
  /// Registers the path as a lock's while the spec exists.
  LockPlacePtr place{};
  // Whether the warnings of queue_warnings.hpp were logged.
  mutable std::atomic<bool> foreign_reported = false;
  mutable std::atomic<bool> end_reported = false;
  mutable std::atomic<bool> mixture_reported = false;
};

using LockSpecPtr = std::shared_ptr<const LockSpec>;

/// The place of the nodes by which the lock is held.
[[nodiscard]] inline const LockSpec& holders_of(const LockSpec& spec) noexcept {
  return spec.permits ? *spec.permits : spec;
}

/// A lock's names in an observer's events.
struct ObservedAs {
  std::string_view recipe;
  std::string_view path;
};
inline constexpr std::string_view observed_mutex = "InterProcessMutex";
inline constexpr std::string_view observed_reader = "InterProcessReadWriteLock::read";
inline constexpr std::string_view observed_writer = "InterProcessReadWriteLock::write";

/// Makes the spec. `lock` is the name of the lock's class, for errors. Observers see the lock as
/// `lock` at `path`, unless `observed_as` has other names.
[[nodiscard]] std::shared_ptr<LockSpec> make_lock_spec(const Client& client, std::string_view lock,
                                                       const NamingRule& rule, ContenderKind kind,
                                                       std::string path, LockOptions options,
                                                       std::optional<ObservedAs> observed_as = {});

}  // namespace custodian::recipes_detail
