#pragma once

/// \file
/// MovingMutex is a fair lock whose path's home a MovingMap may move while it is held and waited
/// for.
///
///     MovingMutex mutex{map, "/orders/4711"};
///     const MovingLease lease = mutex.acquire();
///
/// An acquire works as that of an InterProcessMutex at the path's home: the same nodes, the same
/// queue, the same requests. While the path moves, an acquire takes the lock at the old home, then
/// at the new one, at both or at none, with a place in the queue of each. Order is kept within a
/// home; an acquire that waits at the old home when the move ends enters the new home's queue at
/// its end.
///
/// Before its first acquire at an ensemble, a client makes its session a member there, which costs
/// two round trips, once a session. An acquire waits until the map was published.
///
/// When not to use it: see MovingMap. There is no standard face, no re-entry, no cohort and no
/// keeping: a kept lock would have to be given up whenever its path moves.
///
/// Threads: any. Lifetimes: a lease or a waiting acquire may outlive the mutex and the map; the
/// clients may be destroyed first (acquires then fail with closed).

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/ensembles/moving_lease.hpp"
#include "custodian/ensembles/moving_map.hpp"
#include "custodian/export.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "custodian/locks/timed_acquire.hpp"

namespace custodian {

namespace recipes_detail {
struct MovingLock;
using MovingLockPtr = std::shared_ptr<const MovingLock>;

CUSTODIAN_EXPORT void start_acquire_moving(CorePtr core, CancellationPtr cancellation,
                                           MovingLockPtr lock, WaitLimit limit,
                                           AcquireOptions options,
                                           Handler<MovingAcquireResult> handler);
}  // namespace recipes_detail

/// A fair lock on a moving map.
/// \copydetails custodian/ensembles/moving_mutex.hpp
///
/// The acquires have the contracts and errors of TimedAcquire. An acquire that loses its place or
/// its lock at a home begins again at the old home, at the end of the queue, and calls
/// `on_requeued`, unless RequeuePolicy says otherwise. Further errors: invalid_argument, if the
/// process has no client of a home; malformed_data, if a copy of the map cannot be read.
/// `on_position` is called at each home in turn. Observers are notified of the acquire at each home
/// separately.
class CUSTODIAN_EXPORT MovingMutex
    : public TimedAcquire<MovingMutex, MovingLease, MovingAcquireResult> {
 public:
  /// Makes the mutex at this path. Contacts no server. Throws Error (invalid_argument) if the path
  /// or the options are not valid, or if the options ask for a cohort (`hand_off`), to keep the
  /// lock (`keep_idle_for`), or for a maximum time (`hold_at_most`), which an acquire refuses, too.
  MovingMutex(const MovingMap& map, std::string path, LockOptions options = {});

  /// The path of the lock.
  [[nodiscard]] const std::string& path() const noexcept;

 private:
  friend BlockingAcquire;
  friend TimedAcquire;
  static constexpr auto start = &recipes_detail::start_acquire_moving;
  static constexpr auto held = &MovingAcquireResult::lease;

  [[nodiscard]] MovingAcquireResult acquire_within(std::string_view operation,
                                                   const WaitLimit& limit, AcquireOptions options,
                                                   std::stop_token stop) const;

  CorePtr core_;
  recipes_detail::MovingLockPtr spec_;
};

}  // namespace custodian
