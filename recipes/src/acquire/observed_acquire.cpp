#include "acquire/observed_acquire.hpp"

#include <utility>

#include "acquire/acquire_outcome.hpp"

namespace custodian::recipes_detail {

ObservedAcquire::ObservedAcquire(const LockSpecPtr& spec) {
  if (!spec->observed) return;
  began_ = now_of(spec->client.core());
  tell_acquire_begun(spec->client.core(), spec->observed, began_);
  spec_ = spec;
}

void ObservedAcquire::drop() {
  // In the child of a fork mutexes may be locked for ever.
  if (spec_ && spec_->client.unusable() != Errc::forked) end({}, Errc::closed, 0);
}

void ObservedAcquire::end(const WaitLimit& wait_limit, const error_code& error,
                          std::size_t leases) {
  const LockSpecPtr spec = std::exchange(spec_, nullptr);
  if (!spec) return;
  const AcquireOutcome outcome = acquire_outcome(error, leases, wait_limit.try_once);
  tell_acquire_ended(spec->client.core(), spec->observed, outcome, error, began_, leases);
}

void ObservedAcquire::swap(ObservedAcquire& other) noexcept {
  std::swap(spec_, other.spec_);
  std::swap(began_, other.began_);
}

}  // namespace custodian::recipes_detail
