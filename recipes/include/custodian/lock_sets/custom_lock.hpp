#pragma once

/// \file
/// CustomLock is a lock of the user's own in an InterProcessMultiLock: a row of a database, a file
/// lock, a QuorumLock. Apache Curator's interface InterProcessLock, in a multi lock.
///
///     class RowLock final : public custodian::CustomLock { ... };
///     InterProcessMultiLock both{{accounts, std::make_shared<RowLock>(database, "prices")}};
///
/// When not to use it: for locks of this library, which AnyLock takes as they are.
///
/// An implementation may be slow, fail, throw, or never answer: the group's limit and its
/// cancellation hold all the same, the locks that were acquired before are released in reverse
/// order, and a lock that an implementation acquires too late is released at once. An acquire that
/// fails ends, or begins again, when these releases have been made. At its limit, or when it is
/// cancelled, it waits for them a twentieth of a second longer and no more: a callback executor
/// that stands still makes them later, in the same order.
///
/// Threads: the functions of a CustomLock run on the callback executor of the group's first client,
/// perhaps of several acquires at once; those of a CustomHold on the thread that releases the
/// group, or on that executor; never on the client's strand. Lifetimes: groups, and acquires that
/// are under way, keep the lock.

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// A custom lock that is held. Its destructor releases it unless release() has; it must not throw.
class CUSTODIAN_EXPORT CustomHold {
 public:
  CustomHold() = default;
  CustomHold(const CustomHold&) = delete;
  CustomHold& operator=(const CustomHold&) = delete;
  virtual ~CustomHold();

  /// Releases the lock. Called once, before the object is destroyed; not in the child of a fork,
  /// where the object is leaked. It should only begin a slow release: the thread that releases the
  /// group waits for it. An exception goes to the log, and the group's other locks are released all
  /// the same.
  virtual void release() = 0;
  /// Stops when the lock is lost: the group is lost then. Called once, when the lock is acquired.
  /// Callbacks on LeaseGroup::lost() run on the thread that stops it. Default: it is never lost.
  [[nodiscard]] virtual std::stop_token lost() const noexcept { return {}; }
};

/// Whether an acquire waits for a lock that another one holds.
enum class CustomWait : std::uint8_t {
  until_deadline,
  not_at_all,  ///< it takes the lock if it is free; the deadline is that of asking
};

/// How long a custom lock may take.
struct CustomLimit {
  /// When the group gives up, whether it has an answer or not.
  Deadline deadline{};
  /// What the limit means.
  CustomWait wait = CustomWait::until_deadline;
  /// Stops, on the callback executor, when the group has given up: the answer is not awaited any
  /// more.
  std::stop_token given_up{};
};

/// To be called with the result of an acquire: a hold; an error; or neither if another one holds
/// the lock. On any thread, also within async_acquire(), and also when the group and its client are
/// gone. The first call counts; a hold of a later one, or of one that comes too late, is released
/// within the call, and an exception of that release goes to the caller, or to the log. When all
/// copies are destroyed without a call, that is an answer, too: state_not_recoverable.
using CustomAnswer = std::function<void(error_code, std::unique_ptr<CustomHold>)>;

/// A lock of one's own.
class CUSTODIAN_EXPORT CustomLock {
 public:
  CustomLock() = default;
  CustomLock(const CustomLock&) = delete;
  CustomLock& operator=(const CustomLock&) = delete;
  virtual ~CustomLock();

  /// For people, in place of a path: GroupAcquireResult::path, Error::path(), LockSetBase::paths().
  /// Called once, by AnyLock's constructor.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Begins to acquire the lock, and must not block. An exception is an answer: its code, if it is
  /// a boost::system::system_error, state_not_recoverable otherwise; the log has its text. Any
  /// error but operation_aborted and session_lost ends the group's acquire. An answer without a
  /// hold before the deadline makes a group that may wait begin again with its first lock, after a
  /// pause.
  virtual void async_acquire(CustomLimit limit, CustomAnswer answer) = 0;
};

}  // namespace custodian
