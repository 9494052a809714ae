#include "custodian/authoring/observed_lock.hpp"

#include "client/client_core.hpp"
#include "observe/observation.hpp"

namespace custodian {

ObservedLockPtr make_observed(const CorePtr& core, std::string_view recipe, std::string_view path) {
  if (core->observation() == nullptr) return nullptr;
  return std::make_shared<const ObservedLock>(
      ObservedLock{std::string{recipe}, core->path_for_options(path)});
}

BootClock::time_point now_of(const CorePtr& core) noexcept { return core->now(); }

void tell_acquire_begun(const CorePtr& core, const ObservedLockPtr& lock,
                        BootClock::time_point since) {
  core->observation()->tell_acquire_begun(lock, since);
}

void tell_acquire_ended(const CorePtr& core, const ObservedLockPtr& lock, AcquireOutcome outcome,
                        error_code error, BootClock::time_point since, std::size_t leases) {
  core->observation()->tell_acquire_ended(lock, outcome, error, since, leases);
}

void tell_lock_reused(const CorePtr& core, const ObservedLockPtr& lock, FencingToken token,
                      std::uint64_t times) {
  core->observation()->tell_lock_reused(lock, token, times);
}

void tell_kept_lock_ended(const CorePtr& core, const ObservedLockPtr& lock, FencingToken token,
                          KeptLockEnd reason) {
  core->observation()->tell_kept_lock_ended(lock, token, reason);
}

void tell_wait_ended(const CorePtr& core, const ObservedLockPtr& wait, WaitOutcome outcome,
                     error_code error, BootClock::time_point since) {
  core->observation()->tell_wait_ended(wait, outcome, error, since);
}

void tell_update_ended(const CorePtr& core, const ObservedLockPtr& value, UpdateFacts facts,
                       BootClock::time_point since) {
  core->observation()->tell_update_ended(value, facts, since);
}

}  // namespace custodian
