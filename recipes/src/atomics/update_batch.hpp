#pragma once

/// \file
/// UpdateBatch is updates that one client applies together, by one write: those that have come
/// while an earlier write was under way. Strand only, but for its destruction.
///
/// A caller may give up at any time. Before the write its update is taken out, and has changed
/// nothing; while the write is under way its outcome is unknown, and the others go on.

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

  /// At the end of the line of this value. It may be joined until it begins, or until others are
  /// behind it.
  [[nodiscard]] static UpdateBatchPtr at_end_of_line(const UpdateJob& first);
  /// The batch at the end of the line, if this update may join it; otherwise null.
  [[nodiscard]] static UpdateBatchPtr to_join(const UpdateJob& job);

  /// Not for use: see at_end_of_line().
  UpdateBatch(AtomicNodePtr node, ValueLinePtr line);
  UpdateBatch(const UpdateBatch&) = delete;
  UpdateBatch& operator=(const UpdateBatch&) = delete;
  ~UpdateBatch() = default;

  [[nodiscard]] UpdateCallPtr add(UpdateJob job);
  /// Waits for the turn, and admits nobody any more. Errors: operation_aborted, when all callers
  /// have given up.
  [[nodiscard]] boost::asio::awaitable<error_code> begin();
  /// Leaves the line.
  void end_turn() { place_.reset(); }

  /// Those whose callers have not given up, in their order.
  [[nodiscard]] const std::vector<UpdateCallPtr>& calls() const noexcept { return calls_; }
  /// Ends all updates with the results of `computed`, in its order; some of these may have been
  /// given up since. Or with an error.
  void end(const std::vector<UpdateCallPtr>& computed,
           const std::vector<Result<StoredUpdate>>& results);
  void end(const error_code& error);

  const AtomicNodePtr node;
  const ValueLinePtr line;
  /// Requested when all callers have given up.
  const CancellationPtr cancellation;
  /// For the requests: the latest deadline of those that began.
  OperationOptions options{};
  /// For the retry policies: when the latest of these was called.
  std::chrono::steady_clock::time_point called{};
  Phase phase = Phase::waiting;

  /// The end of an update, or of its caller's patience.
  [[nodiscard]] static boost::asio::awaitable<Result<StoredUpdate>> outcome(UpdateBatchPtr self,
                                                                            UpdateCallPtr call);

 private:
  /// Its caller has given up.
  void take_out(const UpdateCallPtr& call);

  std::optional<ValueLine::Place> place_;
  std::vector<UpdateCallPtr> calls_;
};

}  // namespace custodian::recipes_detail
