#pragma once

/// \file
/// TimeLimit ends a wait at its deadline, for authors of recipes.
///
/// The deadline of OperationOptions limits one request, and not the wait for a watch between two of
/// them. So a coroutine that waits gives its requests `Deadline::never()`, and the cancellation of
/// a TimeLimit:
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

/// Cancels an operation at a deadline, or when its caller cancels. A variable of the operation's
/// coroutine: for the strand only, and not movable. Its end leaves nothing behind, and cancels
/// nothing.
class CUSTODIAN_EXPORT TimeLimit {
 public:
  /// `callers` may be null. A default deadline counts as never: call Client::deadline_or_default()
  /// first. A deadline that has passed already cancels at the coroutine's next pause.
  TimeLimit(const CorePtr& core, const boost::asio::any_io_executor& strand, Deadline until,
            CancellationPtr callers);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit();

  /// The cancellation of the operation.
  [[nodiscard]] const CancellationPtr& cancellation() const noexcept { return cancellation_; }
  /// Whether the deadline has ended the operation, which completed with this error. False if the
  /// caller had cancelled it before.
  [[nodiscard]] bool has_ended(error_code error) const;

 private:
  const CancellationPtr cancellation_;
  const CancellationPtr callers_;
  const std::shared_ptr<bool> passed_;
  boost::asio::steady_timer timer_;
};

}  // namespace custodian
