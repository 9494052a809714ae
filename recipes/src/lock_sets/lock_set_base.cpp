#include "custodian/lock_sets/lock_set_base.hpp"

#include <algorithm>

#include "acquire/hold_pool.hpp"
#include "async/block_in_time.hpp"
#include "lock_sets/group_acquisition.hpp"

namespace custodian {

namespace recipes_detail {

void start_acquire_group(CorePtr, CancellationPtr cancellation, LockSetPtr locks,
                         AcquireOptions options, Handler<LeaseGroup> handler) {
  start_acquire_group_within(
      locks, std::move(cancellation), {}, std::move(options),
      [handler = std::move(handler)](error_code error, GroupAcquireResult result) mutable {
        std::move(handler)(error, std::move(result.leases));
      });
}

void start_try_acquire_group(CorePtr, CancellationPtr cancellation, LockSetPtr locks,
                             AcquireOptions options, Handler<GroupAcquireResult> handler) {
  start_acquire_group_within(locks, std::move(cancellation), {.only_try = true}, std::move(options),
                             std::move(handler));
}

void start_try_acquire_group_until(CorePtr, CancellationPtr cancellation, LockSetPtr locks,
                                   Deadline deadline, AcquireOptions options,
                                   Handler<GroupAcquireResult> handler) {
  start_acquire_group_within(locks, std::move(cancellation), wait_limit_until(deadline),
                             std::move(options), std::move(handler));
}

namespace {

/// For the blocking faces: an error has its path with it.
void start_waited_for(CorePtr, CancellationPtr cancellation, LockSetPtr locks, WaitLimit wait_limit,
                      AcquireOptions options, Handler<GroupAcquireResult> handler) {
  start_acquire_group_within(locks, std::move(cancellation), wait_limit, std::move(options),
                             std::move(handler));
}

}  // namespace

}  // namespace recipes_detail

using recipes_detail::WaitLimit;

LockSetBase::LockSetBase(recipes_detail::LockSetPtr locks)
    : core_{locks->home().core()},
      locks_{std::move(locks)},
      pool_{std::make_unique<recipes_detail::HoldPool<LeaseGroup>>()} {}

LockSetBase::LockSetBase(LockSetBase&&) noexcept = default;

LockSetBase& LockSetBase::operator=(LockSetBase&&) noexcept = default;

LockSetBase::~LockSetBase() = default;

std::vector<std::string> LockSetBase::paths() const {
  std::vector<std::string> paths(locks_->locks.size());
  std::ranges::transform(locks_->locks, paths.begin(), &AnyLock::path);
  return paths;
}

GroupAcquireResult LockSetBase::wait_for(std::string_view operation, const WaitLimit& wait_limit,
                                         std::stop_token stop, AcquireOptions options) const {
  const std::string& first = locks_->locks.front().path();
  for (const AnyLock& lock : locks_->locks) {
    detail::require_may_block(*locks_->runner_of(lock).core(), operation, lock.path());
  }
  const Deadline end =
      wait_limit.only_try ? recipes_detail::end_of(locks_->home(), {}) : wait_limit.deadline;
  auto outcome = block_until<&recipes_detail::start_waited_for, GroupAcquireResult>(
      core_, operation, first, std::move(stop), end, locks_, wait_limit, std::move(options));
  if (!outcome) return {.path = first, .reason = NotAcquired::context_not_run};
  auto& [error, result] = *outcome;
  if (error) {
    const auto failed = std::ranges::find(locks_->locks, result.path, &AnyLock::path);
    const AnyLock& named = failed == locks_->locks.end() ? locks_->locks.front() : *failed;
    throw_if(*locks_->runner_of(named).core(), error, operation, named.path());
  }
  return std::move(result);
}

// -- The lease face -------------------------------------------------------------------------------

LeaseGroup LockSetBase::acquire(AcquireOptions options, std::stop_token stop) {
  return wait_for("acquire", {}, std::move(stop), std::move(options)).leases;
}

GroupAcquireResult LockSetBase::try_acquire(AcquireOptions options) {
  return wait_for("try_acquire", {.only_try = true}, {}, std::move(options));
}

GroupAcquireResult LockSetBase::try_acquire_until(Deadline deadline, AcquireOptions options,
                                                  std::stop_token stop) {
  return wait_for("try_acquire_until", recipes_detail::wait_limit_until(deadline), std::move(stop),
                  std::move(options));
}

// -- The standard face ----------------------------------------------------------------------------

void LockSetBase::lock() { pool_->put(wait_for("lock", {}, {}, {}).leases); }

bool LockSetBase::try_lock() {
  return pool_->put(wait_for("try_lock", {.only_try = true}, {}, {}).leases);
}

bool LockSetBase::try_lock_until(Deadline deadline) {
  return pool_->put(
      wait_for("try_lock_until", recipes_detail::wait_limit_until(deadline), {}, {}).leases);
}

void LockSetBase::unlock() { pool_->release(1, "unlock", locks_->locks.front().path()); }

LeaseGroup LockSetBase::current_leases() const { return pool_->youngest(); }

bool LockSetBase::owns_lock() const {
  const LeaseState state = current_leases().state();
  return state == LeaseState::held || state == LeaseState::suspended;
}

}  // namespace custodian
