#pragma once

/// \file
/// InterProcessLock is the common part of this library's fair locks: their acquires, by two faces,
/// and their inspection. The locks themselves are InterProcessMutex, and the two sides of an
/// InterProcessReadWriteLock.
///
/// The *lease face* hands out a Lease: that object owns the lock, so the lock may travel between
/// threads and coroutines. The *standard face* is that of std::recursive_timed_mutex: the thread
/// owns the lock, and std::scoped_lock and std::unique_lock work. Acquires by both faces stand in
/// the same queue.
///
/// Threads: any. Lifetimes: the client may be destroyed first (acquires then fail with closed); a
/// lease or a waiting acquire may outlive the lock object.

#include <chrono>
#include <concepts>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/hand_off.hpp"
#include "custodian/locks/naming_profile.hpp"
#include "custodian/locks/timed_acquire.hpp"
#include "custodian/locks/timed_lockable.hpp"

namespace custodian {

/// The options of every lock. Lock objects at one path may have different options, but they need
/// the same profile.
struct LockOptions {
  /// The name by which people recognise this lock's contenders: the data of their nodes. Empty: the
  /// client's identity.
  std::string identity{};
  /// The terms of this lock's leases, also of those behind the standard face.
  LeaseOptions lease{};
  /// The naming profile of the lock's nodes.
  NamingProfile profile = NamingProfile::curator;
  /// Which waiter gets the lock next. A cohort cannot be combined with `lease.hold_at_most`, which
  /// would delete the node that the holders share. In a read/write lock this option applies to the
  /// writers only.
  HandOff hand_off = HandOff::strict();
  /// How long the client keeps the lock without a holder after its last release, up to a minute
  /// after the lock was granted. Until then the next acquire of this client has the lock at once,
  /// without a request to the servers: in less than a microsecond. Zero: the lock is given back at
  /// once. The time is checked four times in `keep_idle_for`, at least every 5 s and at most every
  /// 5 ms, so the lock may stay for a quarter longer.
  ///
  /// A kept lock belongs to the client, and not to this object: all lock objects of the client with
  /// the same path and the same options use it, also those that are made later, and with_lock().
  /// The lock is given back when the servers report another contender; when the client's connection
  /// is lost; when the client keeps too many locks (`ClientOptions::max_kept_locks`); and when a
  /// contender of this client comes that cannot use it: a reader, a lock object with other options,
  /// an acquire with terms of its own, or a try while the lock is held.
  ///
  /// What keeping costs others: a contender of another process must wait until this process was
  /// notified of the contender and has given the lock back, about twice as long as behind a holder
  /// that releases. A process that dies while it keeps the lock, or stands still, blocks the lock
  /// for its session timeout, though nobody works under it; and a try of another process may find
  /// the lock taken though it has no holder. So keep a lock that one process wants again and again,
  /// and others seldom. If others come often, the client notices that keeping does not pay, and
  /// mostly does without.
  ///
  /// Fairness: waiters of this client pass the lock on among themselves for as long as no other
  /// contender is known. Once another contender is known, `hand_off` decides.
  ///
  /// All holders of a kept lock share its node, as those of a cohort do: see HandOff::cohort() for
  /// what that means for tokens and for `Lease::check()`. The option cannot be combined with
  /// `lease.hold_at_most`. Read locks are kept if `share_readers` is more than 1.
  std::chrono::nanoseconds keep_idle_for{0};
  /// Of a read/write lock: how many acquires of this client's readers one node may serve, held at
  /// once or one after the other. With 1 each acquire has a node of its own. With more, a reader
  /// joins the newest node of its client's readers, unless a writer is known to stand behind that
  /// node. If the node holds the lock, the reader has the lock at once, without a request to the
  /// servers; otherwise the readers of the node wait together. Other locks ignore the option.
  ///
  /// Readers of one client share nodes if their lock objects have the same path and the same
  /// options. A try joins a node that holds the lock, or has a node of its own. An acquire with
  /// terms of its own (`AcquireOptions`) has a node of its own, and so has a downgrade.
  ///
  /// Fairness: a writer waits for no reader that comes after the writer was reported. A writer of
  /// this client is known at once, a writer of another client when the servers have notified this
  /// client. Until then, as many readers may pass the writer as the node may still serve. If the
  /// servers never send that notification (`docs/design.md` says when), the option is the only
  /// limit.
  ///
  /// The readers of one node share its czxid, and lose the lock together, each notified: see
  /// HandOff::cohort() for what that means for tokens and for `Lease::check()`. Other processes see
  /// one participant. With `keep_idle_for` the node stays when its last reader has released it,
  /// until a writer comes; readers of other clients do not end that. The option cannot be combined
  /// with `lease.hold_at_most`.
  int share_readers = 1;
};

class InterProcessCondition;

namespace recipes_detail {
struct LockSpec;
class LockHolds;
class ThreadHolds;
using LockSpecPtr = std::shared_ptr<const LockSpec>;

CUSTODIAN_EXPORT void start_acquire(CorePtr core, CancellationPtr cancellation, LockSpecPtr spec,
                                    WaitLimit limit, AcquireOptions options,
                                    Handler<AcquireResult> handler);
CUSTODIAN_EXPORT void start_acquire_beside(CorePtr core, CancellationPtr cancellation,
                                           LockSpecPtr spec, Lease held, AcquireOptions options,
                                           Handler<Lease> handler);
CUSTODIAN_EXPORT void start_participants(CorePtr core, CancellationPtr cancellation,
                                         LockSpecPtr spec, OperationOptions options,
                                         Handler<std::vector<Participant>> handler);
CUSTODIAN_EXPORT void start_queue_length(CorePtr core, CancellationPtr cancellation,
                                         LockSpecPtr spec, OperationOptions options,
                                         Handler<std::size_t> handler);
}  // namespace recipes_detail

/// A fair lock with its two faces. Made by InterProcessMutex or InterProcessReadWriteLock only.
/// \copydetails custodian/locks/inter_process_lock.hpp
///
/// acquire() throws resource_deadlock_would_occur if this thread holds the lock, or the other side
/// of a read/write lock, by the standard face, since the thread would wait for itself.
///
/// The standard face is re-entrant per thread: a thread that has the lock gets another hold of it.
/// lock() and the try_lock functions also throw lock_lost if this thread has locked the lock, or
/// the other side of a read/write lock, and has lost it: call unlock() first. They throw
/// resource_deadlock_would_occur, at once, if this is the write lock and the thread holds only the
/// read lock.
class CUSTODIAN_EXPORT InterProcessLock
    : public TimedAcquire<InterProcessLock, Lease, AcquireResult>,
      public TimedLockable<InterProcessLock> {
 public:
  InterProcessLock(const InterProcessLock&) = delete;
  InterProcessLock& operator=(const InterProcessLock&) = delete;
  /// A moved-from object may only be destroyed, or assigned to. The threads' holds by the standard
  /// face move, too: the threads unlock the new object. Do not move an object during one of its
  /// blocking calls.
  InterProcessLock(InterProcessLock&&) noexcept;
  /// Moves as the constructor does. No thread may hold the object that is assigned to.
  InterProcessLock& operator=(InterProcessLock&&) noexcept;

  /// The path of the lock: the parent of the contenders' nodes.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The lease face: as TimedAcquire has it, and re-entry
  /// \{

  using TimedAcquire::acquire;
  using TimedAcquire::async_acquire;

  /// Returns another lease on the hold of `lease`: an explicit re-entry. Contacts no server. Throws
  /// lock_lost if `lease` is not held any more, invalid_argument if it belongs to another lock or
  /// another client.
  ///
  /// If this is a read lock and `lease` is on the write lock, the function acquires the read lock
  /// beside the write lock: see InterProcessReadWriteLock. It asks the servers, until they answer
  /// or the write lock is lost (lock_lost); `stop` ends it with operation_aborted; of the options
  /// only the terms of the lease count. The client needs the permission to read the writer's node.
  /// If this is a write lock and `lease` is on the read lock, the function throws
  /// resource_deadlock_would_occur.
  [[nodiscard]] Lease acquire(const Lease& lease, AcquireOptions options,
                              std::stop_token stop = {}) const;
  /// acquire(lease, options) with default options.
  [[nodiscard]] Lease acquire(const Lease& lease, std::stop_token stop = {}) const {
    return acquire(lease, AcquireOptions{}, std::move(stop));
  }

  /// The asynchronous form of acquire(lease, options). All else is as for async_acquire().
  template <std::same_as<Lease> Held, typename Token>
  auto async_acquire(const Held& lease, AcquireOptions options, Token&& token) const {
    return initiate<void(error_code, Lease), &recipes_detail::start_acquire_beside>(
        core_, std::forward<Token>(token), spec_, lease.share(), std::move(options));
  }
  /// async_acquire(lease, options) with default options.
  template <std::same_as<Lease> Held, typename Token>
  auto async_acquire(const Held& lease, Token&& token) const {
    return async_acquire(lease, AcquireOptions{}, std::forward<Token>(token));
  }
  /// \}

  /// \name The standard face: as TimedLockable has it, and the holds of a thread
  /// \{

  /// Ends one hold of this thread; the end of its last hold releases the lock. Does not throw if
  /// the lock was lost meanwhile, since this function runs in destructors. Throws Error
  /// (operation_not_permitted) if this thread does not hold the lock.
  void unlock();

  /// A lease that shares this thread's hold: for its token, its state, and its loss. Empty if this
  /// thread has not locked the lock. The returned lease, too, keeps the lock until it is released.
  [[nodiscard]] Lease current_lease() const;
  /// Whether this thread has locked the lock, and has not lost it. Apache Curator's
  /// isOwnedByCurrentThread.
  [[nodiscard]] bool is_held_by_this_thread() const;
  /// Does the same as is_held_by_this_thread(): all locks of this library have a function of this
  /// name.
  [[nodiscard]] bool owns_lock() const { return is_held_by_this_thread(); }
  /// How often this thread must call unlock() to release the lock.
  [[nodiscard]] int hold_count() const;
  /// \}

  /// \name Introspection
  /// \{

  /// Lists the queue in order, the holder first, with the contenders of all clients. The answer may
  /// be out of date when it arrives.
  /// Completes with: error, the participants.
  /// Cancellation: total.
  /// Errors: no_auth, deadline_exceeded, operation_aborted, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_participants>(core_, std::forward<Token>(token), spec_,
                                                         options);
  }
  /// The blocking form of async_participants(). Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// Counts the contenders that hold the lock or wait for it. All else is as for
  /// async_participants().
  template <typename Token>
  auto async_queue_length(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::size_t), &recipes_detail::start_queue_length>(
        core_, std::forward<Token>(token), spec_, options);
  }
  /// The blocking form of async_queue_length(). Throws Error.
  [[nodiscard]] std::size_t queue_length(OperationOptions options = {}) const;

  /// For authors of recipes: the description of the lock, which starting an acquire needs.
  [[nodiscard]] const recipes_detail::LockSpecPtr& spec() const noexcept { return spec_; }
  /// \}

 protected:
  /// No thread may hold the lock by the standard face any more. Holds that are left are released.
  ~InterProcessLock();
  /// `holds` is shared by the locks of one read/write lock.
  InterProcessLock(recipes_detail::LockSpecPtr spec,
                   std::shared_ptr<recipes_detail::LockHolds> holds);

 private:
  friend BlockingAcquire;
  friend InterProcessCondition;
  friend TimedAcquire;
  friend TimedLockable;
  static constexpr auto start = &recipes_detail::start_acquire;
  static constexpr auto held = &AcquireResult::lease;

  void refuse_deadlock() const;
  [[nodiscard]] AcquireResult acquire_within(std::string_view operation, const WaitLimit& limit,
                                             AcquireOptions options, std::stop_token stop) const;
  [[nodiscard]] bool lock_within(std::string_view operation, const WaitLimit& limit);
  [[nodiscard]] recipes_detail::ThreadHolds& holds() const;

  CorePtr core_;
  recipes_detail::LockSpecPtr spec_;
  std::shared_ptr<recipes_detail::LockHolds> holds_;
};

}  // namespace custodian
