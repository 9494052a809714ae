#pragma once

/// \file
/// InterProcessMultiLock is several locks as one: all of them or none. Apache Curator's class of
/// this name.
///
///     InterProcessMultiLock both{{accounts, prices.read(), {licences, 2}}};
///     const LeaseGroup leases = both.acquire();
///
/// The locks may be of any kinds, and of one client or of several, also of different ensembles; and
/// locks of the user's own may be among them (CustomLock). They are acquired one after the other,
/// in the order given. So all callers that want several of them must name them in the same order,
/// or set a deadline: otherwise two may wait for each other for ever.
///
/// When not to use it: for parts of one thing that are always locked together; one lock on the
/// whole is faster and safer. For one lock that outlives the loss of an ensemble: QuorumLock.
///
/// How it is used, its threads and lifetimes: LockSetBase.

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

/// A lock of any kind, as one of several. It may outlive the lock object that it was made from, and
/// does not know which threads hold the lock by that object's standard face.
class CUSTODIAN_EXPORT AnyLock {
 public:
  // All constructors are implicit, so that a list of locks can just name them.
  AnyLock(const InterProcessLock& lock);  ///< a mutex, or one side of a read/write lock
  /// A mutex that no thread owns.
  AnyLock(const InterProcessSemaphoreMutex& mutex);
  /// That many permits. Throws Error (invalid_argument) if they can never be granted.
  AnyLock(const InterProcessSemaphore& semaphore, int permits = 1);

  /// A lock of the user's own. Throws Error (invalid_argument) if it is null, and whatever its
  /// name() throws.
  template <std::derived_from<CustomLock> Lock>
  AnyLock(std::shared_ptr<Lock> lock) : place_{named(std::move(lock))} {}

  /// The path of the lock; the name of a custom lock.
  [[nodiscard]] const std::string& path() const noexcept;

  /// For authors of recipes: a number of permits of a semaphore.
  struct Permits {
    /// The semaphore.
    recipes_detail::SemaphoreSpecPtr spec;
    /// How many.
    int count;
  };
  /// For authors of recipes: a lock of the user's own.
  struct Custom {
    /// The lock.
    std::shared_ptr<CustomLock> lock;
    /// Its name.
    std::string name;
  };
  /// For authors of recipes: the lock of an acquire.
  using Place = std::variant<recipes_detail::LockSpecPtr, Permits, Custom>;
  /// For authors of recipes: the lock of an acquire.
  [[nodiscard]] const Place& place() const noexcept { return place_; }

 private:
  [[nodiscard]] static Custom named(std::shared_ptr<CustomLock> lock);

  Place place_;
};

/// Several locks as one: all of them or none.
/// \copydetails custodian/lock_sets/inter_process_multi_lock.hpp
class CUSTODIAN_EXPORT InterProcessMultiLock final : public LockSetBase {
 public:
  /// Throws Error (invalid_argument) if there is no lock; if there are only custom locks, since a
  /// client must run the acquire; or if one path of a client, or one custom lock, is given twice:
  /// the acquire would wait for itself. Contacts no server.
  explicit InterProcessMultiLock(std::vector<AnyLock> locks);
};

}  // namespace custodian
