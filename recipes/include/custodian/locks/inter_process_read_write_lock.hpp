#pragma once

/// \file
/// InterProcessReadWriteLock is a fair lock with one writer or many readers, for processes on
/// different machines. It is Apache Curator's class of this name, and compatible with it on the
/// wire.
///
/// | held by others | read    | write |
/// |----------------|---------|-------|
/// | nothing        | yes     | yes   |
/// | read           | yes (1) | waits |
/// | write          | waits   | waits |
///
/// | held by the caller | read               | write           |
/// |--------------------|--------------------|-----------------|
/// | read               | shares the hold    | refused at once |
/// | write              | yes, the downgrade | shares the hold |
///
/// (1) Contenders are served in the order in which they came: a reader waits for a writer that came
/// before it, even if that writer still waits, so that readers cannot starve writers. A reader
/// watches only the nearest writer before it; a writer watches the contender before it. So the
/// release of a writer wakes either one writer, or the readers behind it up to the next writer.
///
/// **Downgrade.** A writer may acquire the read lock beside the write lock,
/// `read().acquire(write_lease)`, and then release the write lock: no other writer holds the lock
/// in between. The read lock takes the place of the write lock in the queue, so writers that wait
/// go on waiting. **Upgrade.** A reader cannot acquire the write lock: two readers that did so
/// would wait for each other for ever. So the write lock is refused to a thread that holds the read
/// lock, and to an acquire with a lease on the read lock.
///
/// When not to use it: with few readers, or where reading is short. InterProcessMutex then costs
/// the same, since each acquire is a write to the servers, unless the readers of a client share
/// nodes (`LockOptions::share_readers`). A reader's fencing token says when the reader's node was
/// created, and nothing about other readers.
///
/// Use, threads and lifetimes of the two sides: see InterProcessLock.

#include <chrono>

#include "custodian/export.hpp"
#include "custodian/locks/inter_process_lock.hpp"

namespace custodian {

/// A fair lock with one writer or many readers, for processes on different machines.
/// \copydetails custodian/locks/inter_process_read_write_lock.hpp
class CUSTODIAN_EXPORT InterProcessReadWriteLock {
 public:
  /// The readers' side: many may hold it at once.
  class ReadLock final : public InterProcessLock {
   public:
    /// \name SharedTimedLockable: for `std::shared_lock{lock.read()}`
    /// \{

    /// Locks as lock() does.
    void lock_shared() { lock(); }
    /// Tries as try_lock() does.
    [[nodiscard]] bool try_lock_shared() { return try_lock(); }
    /// Tries as try_lock_for() does.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
      return try_lock_for(wait);
    }
    /// Tries as try_lock_until() does.
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
      return try_lock_until(time);
    }
    /// Unlocks as unlock() does.
    void unlock_shared() { unlock(); }
    /// \}

   private:
    friend class InterProcessReadWriteLock;
    using InterProcessLock::InterProcessLock;
  };
  /// The writers' side: one writer at a time holds it, and no reader then holds the other side.
  class WriteLock final : public InterProcessLock {
    friend class InterProcessReadWriteLock;
    using InterProcessLock::InterProcessLock;
  };

  /// `path` is the parent of the contenders' nodes; it is created, as a container, when it is
  /// needed. Throws Error (invalid_argument) if it is not a valid path. Contacts no server.
  InterProcessReadWriteLock(const Client& client, const std::string& path,
                            const LockOptions& options = {});

  /// The readers' side. It lives as long as this object. Its participants() are those of both
  /// sides.
  [[nodiscard]] ReadLock& read() noexcept { return read_; }
  /// The writers' side. It lives as long as this object. Its participants() are those of both
  /// sides.
  [[nodiscard]] WriteLock& write() noexcept { return write_; }
  /// The parent of the contenders' nodes.
  [[nodiscard]] const std::string& path() const noexcept { return write_.path(); }

  /// \name The standard face of both: SharedTimedLockable, re-entrant per thread
  /// \{

  /// Calls write().lock(): see InterProcessLock.
  void lock() { write_.lock(); }
  /// Calls write().try_lock().
  [[nodiscard]] bool try_lock() { return write_.try_lock(); }
  /// Calls write().try_lock_for().
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return write_.try_lock_for(wait);
  }
  /// Calls write().try_lock_until().
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    return write_.try_lock_until(time);
  }
  /// Calls write().unlock(): see InterProcessLock.
  void unlock() { write_.unlock(); }

  /// Calls read().lock(). On a thread that holds the write lock this is the downgrade.
  void lock_shared() { read_.lock(); }
  /// Calls read().try_lock().
  [[nodiscard]] bool try_lock_shared() { return read_.try_lock(); }
  /// Calls read().try_lock_for().
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return read_.try_lock_for(wait);
  }
  /// Calls read().try_lock_until().
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
    return read_.try_lock_until(time);
  }
  /// Calls read().unlock().
  void unlock_shared() { read_.unlock(); }

  /// Lists the queue of both sides in order, as InterProcessLock::participants() does.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const {
    return write_.participants(options);
  }
  /// \}

 private:
  InterProcessReadWriteLock(const Client& client, const std::string& path,
                            const LockOptions& options,
                            const std::shared_ptr<recipes_detail::LockHolds>& holds);

  ReadLock read_;
  WriteLock write_;
};

}  // namespace custodian
