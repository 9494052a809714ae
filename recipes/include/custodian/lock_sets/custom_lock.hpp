#pragma once

/// \file
/// CustomLock makes a lock of the user's own a part of an InterProcessMultiLock: a row of a
/// database, a file lock, a QuorumLock. It is what Apache Curator's interface InterProcessLock is
/// in Curator's multi lock.
///
///     class RowLock final : public custodian::CustomLock { ... };
///     InterProcessMultiLock both{{accounts, std::make_shared<RowLock>(database, "prices")}};
///
/// When not to use it: for locks of this library, which AnyLock takes without an adapter.
///
/// An implementation may be slow, fail, throw, or never answer. The group's limit and cancellation
/// still work, the locks that were acquired before are released in reverse order, and a lock that
/// is acquired too late is released at once. An acquire of the group that fails does these releases
/// before it ends or begins again. At its limit, or when the acquire is cancelled, it waits for the
/// releases a twentieth of a second longer at most: if the callback executor is stuck, the releases
/// happen later, in the same order.
///
/// Threads: the functions of a CustomLock run on the callback executor of the group's first client,
/// perhaps for several acquires at once. The functions of a CustomHold run on the thread that
/// releases the group, or on that executor. None of these functions run on the client's strand.
/// Lifetimes: groups, and acquires that are under way, keep the lock alive.

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// A hold of a custom lock. Its destructor releases the lock unless release() was called, and must
/// not throw.
class CUSTODIAN_EXPORT CustomHold {
 public:
  CustomHold() = default;
  CustomHold(const CustomHold&) = delete;
  CustomHold& operator=(const CustomHold&) = delete;
  virtual ~CustomHold();

  /// Releases the lock. Called once, before the object is destroyed; not in the child of a fork,
  /// where the object is leaked. A slow release should only be begun by this function, since the
  /// thread that releases the group waits for this call. An exception goes to the log, and the
  /// group's other locks are released all the same.
  virtual void release() = 0;
  /// Returns a token whose stop the implementation requests when the lock is lost; the group is
  /// then lost, too. Called once, when the lock is acquired. Callbacks on LeaseGroup::lost() run on
  /// the thread that requests the stop. Default: the lock is never lost.
  [[nodiscard]] virtual std::stop_token lost() const noexcept { return {}; }
};

/// Whether an acquire waits for a lock that is not free.
enum class CustomWait : std::uint8_t {
  until_deadline,
  not_at_all,  ///< the acquire takes the lock only if it is free; the deadline is for the answer
};

/// How long an acquire of a custom lock may take.
struct CustomLimit {
  /// When the group gives up, even without an answer.
  Deadline deadline{};
  /// Whether to wait for the lock until the deadline.
  CustomWait wait = CustomWait::until_deadline;
  /// A token whose stop is requested, on the callback executor, when the group has given up and
  /// does not wait for the answer any more.
  std::stop_token given_up{};
};

/// The implementation calls this function with the result of an acquire: a hold; an error; or
/// neither if the lock is not free. It may call on any thread, also within async_acquire(), and
/// also after the group and its client are gone. Only the first call counts. If a second or late
/// call passes a hold, the hold is released within that call; an exception of that release goes to
/// the caller, or to the log. Destroying all copies without a call counts as an answer, too:
/// state_not_recoverable.
using CustomAnswer = std::function<void(error_code, std::unique_ptr<CustomHold>)>;

/// A lock of the user's own.
class CUSTODIAN_EXPORT CustomLock {
 public:
  CustomLock() = default;
  CustomLock(const CustomLock&) = delete;
  CustomLock& operator=(const CustomLock&) = delete;
  virtual ~CustomLock();

  /// A name for people, which stands where other locks have a path: GroupAcquireResult::path,
  /// Error::path(), LockSetBase::paths(). Called once, by AnyLock's constructor.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Begins to acquire the lock, and must not block. An exception counts as an answer: with its
  /// code if it is a boost::system::system_error, with state_not_recoverable otherwise; its text is
  /// logged. Any error but operation_aborted and session_lost ends the group's acquire. If an
  /// answer without a hold comes before the deadline, a group that may wait begins again with its
  /// first lock, after a pause.
  virtual void async_acquire(CustomLimit limit, CustomAnswer answer) = 0;
};

}  // namespace custodian
