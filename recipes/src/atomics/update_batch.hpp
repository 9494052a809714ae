#pragma once

/// \file
/// UpdateBatch is a group of updates that one client applies by one write: the updates that came
/// while an earlier write was under way. Strand only, except its destruction.
///
/// A caller may give up at any time. Before the write, its update is taken out of the batch and has
/// changed nothing. During the write, the outcome of its update is unknown. The other updates go
/// on.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "atomics/update.hpp"
#include "atomics/value_line.hpp"
#include "custodian/authoring/event.hpp"

namespace custodian::recipes_detail {

/// One update, and its end.
struct UpdateCall {
  explicit UpdateCall(UpdateJob what) : job{std::move(what)} {}

  const UpdateJob job;
  const std::chrono::steady_clock::time_point called = std::chrono::steady_clock::now();
  std::optional<Result<StoredUpdate>> end{};
  AsyncEvent ended{};
};
using UpdateCallPtr = std::shared_ptr<UpdateCall>;

class UpdateBatch;
using UpdateBatchPtr = std::shared_ptr<UpdateBatch>;

class UpdateBatch {
 public:
  enum class Phase : std::uint8_t { waiting, preparing, writing };

  /// A new batch at the end of the line of this value. Updates may join it until it begins, or
  /// until another place is behind it in the line.
  [[nodiscard]] static UpdateBatchPtr at_end_of_line(const UpdateJob& first);
  /// The batch at the end of the line, if this update may join it; otherwise null.
  [[nodiscard]] static UpdateBatchPtr to_join(const UpdateJob& job);

  /// Not for use: see at_end_of_line().
  UpdateBatch(AtomicNodePtr node, ValueLinePtr line);
  UpdateBatch(const UpdateBatch&) = delete;
  UpdateBatch& operator=(const UpdateBatch&) = delete;
  ~UpdateBatch() = default;

  [[nodiscard]] UpdateCallPtr add(UpdateJob job);
  /// Waits for the turn, and admits no more updates. Errors: operation_aborted, when all callers
  /// have given up.
  [[nodiscard]] boost::asio::awaitable<error_code> begin();
  /// Leaves the line.
  void end_turn() { place_.reset(); }

  /// The updates whose callers have not given up, in their order.
  [[nodiscard]] const std::vector<UpdateCallPtr>& calls() const noexcept { return calls_; }
  /// Ends all updates of `computed` with their `results`, which are in the same order. The callers
  /// of some may have given up meanwhile. The other overload ends all updates with an error.
  void end(const std::vector<UpdateCallPtr>& computed,
           const std::vector<Result<StoredUpdate>>& results);
  void end(const error_code& error);

  const AtomicNodePtr node;
  const ValueLinePtr line;
  /// Requested when all callers have given up.
  const CancellationPtr cancellation;
  /// For the requests: the latest deadline of the updates in the batch when it began.
  OperationOptions options{};
  /// For the retry policies: when the latest of these updates was called.
  std::chrono::steady_clock::time_point called{};
  Phase phase = Phase::waiting;

  /// Waits for the end of an update, or until its caller gives up.
  [[nodiscard]] static boost::asio::awaitable<Result<StoredUpdate>> outcome(UpdateBatchPtr self,
                                                                            UpdateCallPtr call);

 private:
  /// Takes out an update whose caller has given up.
  void take_out(const UpdateCallPtr& call);

  std::optional<ValueLine::Place> place_;
  std::vector<UpdateCallPtr> calls_;
};

}  // namespace custodian::recipes_detail
