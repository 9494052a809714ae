#include "custodian/lock_sets/inter_process_multi_lock.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "lock_sets/group_acquisition.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian {

AnyLock::AnyLock(const InterProcessLock& lock) : place_{lock.spec()} {}

AnyLock::AnyLock(const InterProcessSemaphoreMutex& mutex) : place_{Permits{mutex.spec(), 1}} {}

AnyLock::AnyLock(const InterProcessSemaphore& semaphore, int permits)
    : place_{Permits{semaphore.spec(), permits}} {
  check_permits(*semaphore.spec(), "AnyLock", permits);
}

AnyLock::Custom AnyLock::named(std::shared_ptr<CustomLock> lock) {
  if (!lock) throw Error{Errc::invalid_argument, "AnyLock", "", "lock: there is none"};
  std::string name = lock->name();
  return {std::move(lock), std::move(name)};
}

const std::string& AnyLock::path() const noexcept {
  if (const auto* const custom = std::get_if<Custom>(&place_)) return custom->name;
  const auto* const permits = std::get_if<Permits>(&place_);
  return permits ? permits->spec->path
                 : std::get_if<recipes_detail::LockSpecPtr>(&place_)->get()->path;
}

namespace {

/// Two locks are the same if they are of one client, in whichever namespace, and have the same
/// node, or if they are the same CustomLock.
std::pair<const void*, std::string> node_of(const AnyLock& lock) {
  if (const auto* const custom = std::get_if<AnyLock::Custom>(&lock.place())) {
    return {custom->lock.get(), custom->name};
  }
  const Client& client = *recipes_detail::client_of(lock);
  return {own_core(client.core()).get(), client.name_space() + lock.path()};
}

recipes_detail::LockSetPtr all_of(std::vector<AnyLock> locks) {
  constexpr auto name = "InterProcessMultiLock";
  if (locks.empty()) throw Error{Errc::invalid_argument, name, "", "locks: there is none"};
  std::set<std::pair<const void*, std::string>> seen;
  for (const AnyLock& lock : locks) {
    if (!seen.insert(node_of(lock)).second) {
      throw Error{Errc::invalid_argument, name, lock.path(),
                  "locks: it is there twice, and would wait for itself"};
    }
  }
  if (std::ranges::none_of(locks, recipes_detail::client_of)) {
    throw Error{Errc::invalid_argument, name, locks.front().path(),
                "locks: one at the least must be a client's, which runs the acquire"};
  }
  const std::size_t count = locks.size();
  return std::make_shared<const recipes_detail::LockSet>(
      recipes_detail::LockSet{.locks = std::move(locks), .needed = count});
}

}  // namespace

InterProcessMultiLock::InterProcessMultiLock(std::vector<AnyLock> locks)
    : LockSetBase{all_of(std::move(locks))} {}

}  // namespace custodian
