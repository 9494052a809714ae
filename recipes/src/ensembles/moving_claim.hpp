#pragma once

/// \file
/// A moving claim is an acquire of a path on a moving map, and then the hold that it has become.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "custodian/ensembles/moving_mutex.hpp"
#include "ensembles/map_follower.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// The common part of all acquires of one MovingMutex.
struct MovingLock {
  MapFollowerPtr follower;
  std::string path;
  LockOptions options;

  /// The lock at this place. Any thread.
  [[nodiscard]] LockSpecPtr at(const CopyPlace& place) const;

  mutable std::mutex mutex{};  ///< guards what follows
  mutable std::map<std::string, LockSpecPtr> specs{};
};

/// Starts an acquire, from any thread. The handler runs on the home strand, or within this call.
void start_moving_claim(const MovingLockPtr& lock, CancellationPtr cancellation,
                        const WaitLimit& limit, AcquireOptions options,
                        Handler<MovingAcquireResult> handler);

}  // namespace custodian::recipes_detail
