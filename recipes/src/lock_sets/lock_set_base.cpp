#include "custodian/lock_sets/lock_set_base.hpp"

#include <algorithm>

#include "acquire/hold_pool.hpp"
#include "async/block_in_time.hpp"
#include "lock_sets/group_acquisition.hpp"

namespace custodian {

namespace recipes_detail {

void start_acquire_group(CorePtr, CancellationPtr cancellation, LockSetPtr locks, WaitLimit limit,
                         AcquireOptions options, Handler<GroupAcquireResult> handler) {
  start_acquire_group_within(locks, std::move(cancellation), limit.from_now(), std::move(options),
                             std::move(handler));
}

}  // namespace recipes_detail

LockSetBase::LockSetBase(recipes_detail::LockSetPtr locks)
    : core_{locks->home().core()},
      spec_{std::move(locks)},
      pool_{std::make_unique<recipes_detail::HoldPool<LeaseGroup>>()} {}

LockSetBase::LockSetBase(LockSetBase&&) noexcept = default;

LockSetBase& LockSetBase::operator=(LockSetBase&&) noexcept = default;

LockSetBase::~LockSetBase() = default;

std::vector<std::string> LockSetBase::paths() const {
  std::vector<std::string> paths(spec_->locks.size());
  std::ranges::transform(spec_->locks, paths.begin(), &AnyLock::path);
  return paths;
}

GroupAcquireResult LockSetBase::acquire_within(std::string_view operation, const WaitLimit& limit,
                                               AcquireOptions options, std::stop_token stop) const {
  const std::string& first = spec_->locks.front().path();
  recipes_detail::refuse_stopped(stop, operation, first);
  // The call waits for the clients of all locks, so it must not block a thread of any of them.
  for (const AnyLock& lock : spec_->locks) {
    detail::require_may_block(*spec_->runner_of(lock).core(), operation, lock.path());
  }
  const WaitLimit begun = limit.from_now();
  auto outcome = block_until<&recipes_detail::start_acquire_group, GroupAcquireResult>(
      core_, operation, first, std::move(stop), recipes_detail::end_of(spec_->home(), begun), spec_,
      begun, std::move(options));
  if (!outcome) return {.path = first, .reason = NotAcquired::context_not_run};
  auto& [error, result] = *outcome;
  if (error) {
    const auto failed = std::ranges::find(spec_->locks, result.path, &AnyLock::path);
    const AnyLock& named = failed == spec_->locks.end() ? spec_->locks.front() : *failed;
    throw_if(*spec_->runner_of(named).core(), error, operation, named.path());
  }
  return std::move(result);
}

bool LockSetBase::lock_within(std::string_view operation, const WaitLimit& limit) {
  return pool_->put(acquire_within(operation, limit, {}, {}).leases);
}

void LockSetBase::unlock() { pool_->release(1, "unlock", spec_->locks.front().path()); }

LeaseGroup LockSetBase::current_leases() const { return pool_->youngest(); }

bool LockSetBase::owns_lock() const { return pool_->is_held(); }

}  // namespace custodian
