#include "atomics/update_batch.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>

#include "atomics/update_step.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// Whether an update may share a write with others. The others must not build upon a value that one
/// caller says to have read; and an update with a retry policy of its own needs its own requests.
bool is_sociable(const UpdateJob& job) { return !job.known && !job.options.retry; }

}  // namespace

UpdateBatchPtr UpdateBatch::at_end_of_line(const UpdateJob& first) {
  const ValueLinePtr line = line_of(*first.node);
  auto batch = std::make_shared<UpdateBatch>(first.node, line);
  batch->options.retry = first.options.retry;
  if (is_sociable(first)) line->joinable = batch;
  return batch;
}

UpdateBatchPtr UpdateBatch::to_join(const UpdateJob& job) {
  UpdateBatchPtr batch = line_of(*job.node)->joinable.lock();
  // Both are of one handle, so they have the same options.
  const bool admits = batch && batch->node == job.node && is_sociable(job);
  return admits && !batch->cancellation->requested() ? batch : nullptr;
}

UpdateBatch::UpdateBatch(AtomicNodePtr value, ValueLinePtr its_line)
    : node{std::move(value)},
      line{std::move(its_line)},
      cancellation{std::make_shared<Cancellation>(node->value->client.core())} {
  place_.emplace(*line);
}

UpdateCallPtr UpdateBatch::add(UpdateJob job) {
  return calls_.emplace_back(std::make_shared<UpdateCall>(std::move(job)));
}

asio::awaitable<error_code> UpdateBatch::begin() {
  const asio::any_io_executor strand = node->value->client.get_executor();
  const error_code given_up =
      co_await place_->wait_for_turn(strand, Deadline::never(), cancellation);
  if (given_up) co_return given_up;
  // The turn may have come just after the last caller gave up.
  if (calls_.empty()) co_return asio::error::operation_aborted;
  if (line->joinable.lock().get() == this) line->joinable.reset();
  phase = Phase::preparing;
  called = calls_.back()->called;
  options.deadline = calls_.front()->job.options.deadline;
  for (const UpdateCallPtr& call : calls_) {
    options.deadline = std::max(options.deadline, call->job.options.deadline);
  }
  co_return error_code{};
}

void UpdateBatch::end(const std::vector<UpdateCallPtr>& computed,
                      const std::vector<Result<StoredUpdate>>& results) {
  for (std::size_t i = 0; i < computed.size(); ++i) {
    computed[i]->end = results[i];
    computed[i]->ended.notify_all();
  }
  calls_.clear();
}

void UpdateBatch::end(const error_code& error) {
  const std::vector<UpdateCallPtr> all = calls_;
  end(all, std::vector<Result<StoredUpdate>>(all.size(), error));
}

asio::awaitable<Result<StoredUpdate>> UpdateBatch::outcome(UpdateBatchPtr self,
                                                           UpdateCallPtr call) {
  const asio::any_io_executor strand = self->node->value->client.get_executor();
  const CancellationPtr cancellation = call->job.cancellation;
  Deadline until = call->job.options.deadline;
  while (!call->end) {
    if (cancellation && cancellation->requested()) {
      self->take_out(call);
      co_return asio::error::operation_aborted;
    }
    if (until.passed()) {
      const bool is_writing = self->phase == Phase::writing;
      if (!is_writing || until < self->options.deadline) {
        self->take_out(call);
        const Doubt doubt = is_writing ? Doubt::applied_perhaps : Doubt::none;
        co_return end_error(Errc::deadline_exceeded, doubt);
      }
      // The write has the same deadline, so it ends now, too, and its result says whether it was
      // sent.
      until = Deadline::never();
      continue;
    }
    co_await call->ended.wait(strand, until, cancellation);
  }
  co_return std::move(*call->end);
}

void UpdateBatch::take_out(const UpdateCallPtr& call) {
  std::erase(calls_, call);
  if (calls_.empty()) cancellation->request();
}

}  // namespace custodian::recipes_detail
