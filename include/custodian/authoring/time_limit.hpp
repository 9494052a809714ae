#pragma once

/// \file
/// TimeLimit ends a wait at its deadline, for authors of recipes.
///
/// The deadline of OperationOptions limits one request, and not the wait for a watch between two
/// requests. So a coroutine that waits gives its requests `Deadline::never()`, and the cancellation
/// of a TimeLimit:
///
/// \code
/// const TimeLimit limit{core, strand, until, std::move(callers)};
/// const CancellationPtr cancellation = limit.cancellation();
/// const Result<void> ended = co_await work(core, cancellation);
/// if (limit.has_ended(ended.error())) co_return false;
/// \endcode

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// Cancels an operation at a deadline, or when its caller cancels. Make it a local variable of the
/// operation's coroutine: it is used on the strand only, and is not movable. Its destruction leaves
/// nothing behind, and cancels nothing.
class CUSTODIAN_EXPORT TimeLimit {
 public:
  /// `callers` is the caller's cancellation, which may be null. A default deadline counts as never:
  /// call Client::deadline_or_default() first. If the deadline has passed already, the operation is
  /// cancelled at the coroutine's next suspension.
  TimeLimit(const CorePtr& core, const boost::asio::any_io_executor& strand, Deadline until,
            CancellationPtr callers);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit();

  /// The cancellation of the operation.
  [[nodiscard]] const CancellationPtr& cancellation() const noexcept { return cancellation_; }
  /// Whether it was the deadline that ended the operation, which has completed with this error.
  /// False if the caller had cancelled the operation before.
  [[nodiscard]] bool has_ended(error_code error) const;

 private:
  const CancellationPtr cancellation_;
  const CancellationPtr callers_;
  const std::shared_ptr<bool> passed_;
  boost::asio::steady_timer timer_;
};

}  // namespace custodian
