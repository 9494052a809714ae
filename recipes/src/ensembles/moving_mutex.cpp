#include "custodian/ensembles/moving_mutex.hpp"

#include <utility>

#include "async/block_in_time.hpp"
#include "ensembles/moving_claim.hpp"

namespace custodian {

namespace recipes_detail {

void start_acquire_moving(CorePtr, CancellationPtr cancellation, MovingLockPtr lock,
                          WaitLimit limit, AcquireOptions options,
                          Handler<MovingAcquireResult> handler) {
  start_moving_claim(lock, std::move(cancellation), limit, std::move(options), std::move(handler));
}

}  // namespace recipes_detail

MovingMutex::MovingMutex(const MovingMap& map, std::string path, LockOptions options)
    : core_{map.follower()->home().core()} {
  if (options.hand_off != HandOff::strict() || options.lease.hold_at_most ||
      options.keep_idle_for != std::chrono::nanoseconds{0}) {
    throw Error{Errc::invalid_argument, "MovingMutex", path,
                "options: a lock that may move has no cohort, no hold_at_most, and is not kept"};
  }
  auto lock = std::make_shared<recipes_detail::MovingLock>(map.follower(), std::move(path),
                                                           std::move(options));
  // Checks the path at each client: each may have another namespace, and so another limit for
  // paths.
  for (const auto& each : lock->follower->places()) (void)lock->at(*each);
  spec_ = std::move(lock);
}

const std::string& MovingMutex::path() const noexcept { return spec_->path; }

MovingAcquireResult MovingMutex::acquire_within(std::string_view operation, const WaitLimit& limit,
                                                AcquireOptions options,
                                                std::stop_token stop) const {
  // On a thread of any of the clients, the call would wait for itself.
  for (const auto& each : spec_->follower->places()) {
    detail::require_may_block(*each->client.core(), operation, path());
  }
  return recipes_detail::block_in_time<&recipes_detail::start_acquire_moving, MovingAcquireResult>(
      spec_->follower->home(), operation, path(), spec_, limit, std::move(options),
      std::move(stop));
}

}  // namespace custodian
