#pragma once

/// \file
/// InterProcessMultiLock is several locks as one: all of them are acquired, or none. It is Apache
/// Curator's class of this name.
///
///     InterProcessMultiLock both{{accounts, prices.read(), {licences, 2}}};
///     const LeaseGroup leases = both.acquire();
///
/// The locks may be of any kinds, and of one client or of several, also of different ensembles;
/// locks of the user's own may be among them (CustomLock). The locks are acquired one after the
/// other, in the given order. So all callers that want several of the locks must name them in the
/// same order, or set a deadline: otherwise two callers may wait for each other for ever.
///
/// When not to use it: for parts of one thing that are always locked together; one lock on the
/// whole is faster and safer. For one lock that outlives the loss of an ensemble: QuorumLock.
///
/// Use, threads and lifetimes: see LockSetBase.

#include <concepts>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "custodian/export.hpp"
#include "custodian/lock_sets/custom_lock.hpp"
#include "custodian/lock_sets/lock_set_base.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"

namespace custodian {

/// A lock of any kind, as a member of an InterProcessMultiLock. It may outlive the lock object that
/// it was made from, and does not know which threads hold the lock by that object's standard face.
class CUSTODIAN_EXPORT AnyLock {
 public:
  // All constructors are implicit, so that a list of locks can just name them.
  AnyLock(const InterProcessLock& lock);  ///< takes a mutex, or one side of a read/write lock
  /// Takes a mutex that no thread owns.
  AnyLock(const InterProcessSemaphoreMutex& mutex);
  /// Takes `permits` permits of a semaphore. Throws Error (invalid_argument) if the semaphore can
  /// never grant that many.
  AnyLock(const InterProcessSemaphore& semaphore, int permits = 1);

  /// Takes a lock of the user's own. Throws Error (invalid_argument) if the pointer is null, and
  /// whatever the lock's name() throws.
  template <std::derived_from<CustomLock> Lock>
  AnyLock(std::shared_ptr<Lock> lock) : place_{named(std::move(lock))} {}

  /// The path of the lock; the name of a custom lock.
  [[nodiscard]] const std::string& path() const noexcept;

  /// For authors of recipes: a number of permits of a semaphore.
  struct Permits {
    /// The semaphore.
    recipes_detail::SemaphoreSpecPtr spec;
    /// How many permits.
    int count;
  };
  /// For authors of recipes: a lock of the user's own.
  struct Custom {
    /// The lock.
    std::shared_ptr<CustomLock> lock;
    /// The lock's name.
    std::string name;
  };
  /// For authors of recipes: what an acquire needs to know of the lock.
  using Place = std::variant<recipes_detail::LockSpecPtr, Permits, Custom>;
  /// For authors of recipes: what an acquire needs to know of this lock.
  [[nodiscard]] const Place& place() const noexcept { return place_; }

 private:
  [[nodiscard]] static Custom named(std::shared_ptr<CustomLock> lock);

  Place place_;
};

/// Several locks as one: all of them or none.
/// \copydetails custodian/lock_sets/inter_process_multi_lock.hpp
class CUSTODIAN_EXPORT InterProcessMultiLock final : public LockSetBase {
 public:
  /// Throws Error (invalid_argument) if the list is empty; if it has only custom locks, since a
  /// client must run the acquire; or if it has one path of a client, or one custom lock, twice,
  /// since the acquire would wait for itself. Contacts no server.
  explicit InterProcessMultiLock(std::vector<AnyLock> locks);
};

}  // namespace custodian
