#include "atomics/update.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <random>
#include <utility>
#include <vector>

#include "atomics/update_step.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/thrown.hpp"

// One update:
//
// 1. Wait until the earlier updates of this client have ended.
// 2. Have ready what the write needs: the lock, if it is time for it; the witness, if a lost reply
// is
//    to be settled; the value.
// 3. Compute what to write.
// 4. Write, if the version is still the one that was read. If the reply is lost, find out.
// 5. If somebody else was quicker, pause, and go on with 2.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

using Bytes = Versioned<std::string>;
using Next = std::optional<std::string>;

struct Update {
  explicit Update(UpdateJob what)
      : job{std::move(what)},
        node{*job.node->value},
        options{job.node->options},
        core{node.client.core()},
        line{line_of(*job.node)} {}

  [[nodiscard]] bool settles() const { return options.settle == Settle::exactly_once; }
  [[nodiscard]] bool wants_lock() const {
    return options.promoted && !lock && done.tries >= options.promoted->after_tries;
  }

  const UpdateJob job;
  const SharedNode& node;
  const UpdateOptions& options;
  const CorePtr core;
  const ValueLinePtr line;
  Lease lock{};
  /// The value to be replaced.
  std::optional<Bytes> found{};
  /// `found` was read by this update. (Another value may be old, so it proves nothing.)
  bool is_fresh = false;
  Doubt doubt = Doubt::none;
  Updated<std::string> done{};
  /// Why the update ends without success.
  error_code error{};
};
using UpdatePtr = std::shared_ptr<Update>;

asio::awaitable<void> pause(UpdatePtr update, std::chrono::milliseconds duration) {
  const asio::any_io_executor strand = update->node.client.get_executor();
  const Deadline end = std::min(update->job.options.deadline, Deadline{duration});
  AsyncEvent nobody_notifies;
  co_await nobody_notifies.wait(strand, end, update->job.cancellation);
}

std::optional<std::chrono::milliseconds> pause_of(const RetryPolicy& policy, int retries) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const double draw = std::uniform_real_distribution<>{}(random);
  return policy.pause_before({.retries_so_far = retries, .random = draw});
}

// -- What a write needs ---------------------------------------------------------------------------

asio::awaitable<error_code> acquire_lock(UpdatePtr update) {
  const LockSpecPtr spec = update->job.node->lock;
  const WaitLimit limit{.deadline = update->job.options.deadline};
  AcquireOptions as_usual;
  auto [error, result] = co_await await<&start_acquire, AcquireResult>(
      update->core, update->job.cancellation, spec, limit, as_usual);
  if (error) co_return error;
  if (!result.lease) co_return Errc::deadline_exceeded;
  update->lock = std::move(result.lease);
  update->done.promoted = true;
  co_return error_code{};
}

/// The doubt about a node that nobody knows of does the value no harm.
error_code without_doubt(const error_code& error) {
  if (error == Errc::deadline_exceeded_outcome_unknown) return Errc::deadline_exceeded;
  if (error == ErrorCondition::outcome_unknown) return Errc::not_connected;
  return error;
}

asio::awaitable<error_code> create_witness(UpdatePtr update) {
  const OperationOptions options = update->job.options;
  const std::string path = join(update->node.path, "witness");
  const std::string identity = update->node.client.identity();
  update->line->witness = {};
  update->line->copy.reset();
  update->found.reset();
  for (;;) {
    CreateOptions below_the_value{.mode = CreateMode::ephemeral,
                                  .protection = Protection::by_unique_name,
                                  .deadline = options.deadline,
                                  .retry = options.retry};
    auto [error, created] = co_await await<&start_create, Created>(
        update->core, update->job.cancellation, path, identity, std::move(below_the_value));
    if (!error) {
      update->line->witness = OwnedNode{update->core, std::move(created)};
      co_return error_code{};
    }
    if (error != ServerErrc::no_node) co_return without_doubt(error);
    const error_code missing =
        co_await create_with_seed(update->job.node->value, update->job.cancellation, options);
    if (missing) co_return missing;
  }
}

asio::awaitable<error_code> read_value(UpdatePtr update) {
  Result<Watched<GetResult>> read_now = co_await read(
      update->job.node->value, update->job.cancellation, update->job.options, Watching::no);
  if (!read_now) co_return read_now.error();
  const Stat& stat = read_now->value.stat;
  update->found = Bytes{std::move(read_now->value.data), stat.version, stat.mzxid};
  update->is_fresh = true;
  co_return error_code{};
}

asio::awaitable<error_code> get_ready(UpdatePtr update) {
  if (update->wants_lock()) {
    const error_code error = co_await acquire_lock(update);
    if (error) co_return error;
  }
  // A copy is only good while the witness exists that proves the node to be the same.
  if (update->settles() && !update->line->witness.alive()) {
    const error_code error = co_await create_witness(update);
    if (error) co_return error;
  }
  if (!update->found && update->settles()) {
    update->found = std::exchange(update->line->copy, std::nullopt);
    update->is_fresh = false;
  }
  if (update->found) co_return error_code{};
  co_return co_await read_value(update);
}

// -- What to write --------------------------------------------------------------------------------

void start_computation(CorePtr, CancellationPtr, UpdatePtr update, Handler<Next> handler) {
  const Client& client = update->node.client;
  asio::post(client.callback_executor(), [update, handler = std::move(handler)]() mutable {
    Result<Next> next = Next{};
    try {
      next = update->job.compute(*update->found);
    } catch (...) {
      const Thrown thrown = thrown_now();
      update->node.client.log(LogLevel::error,
                              "updating " + update->node.path + " has failed: " + thrown.text);
      next = thrown.error;
    }
    const asio::any_io_executor strand = update->node.client.get_executor();
    asio::post(strand, [handler = std::move(handler), next = std::move(next)]() mutable {
      const error_code error = next ? error_code{} : next.error();
      std::move(handler)(error, next ? std::move(*next) : Next{});
    });
  });
}

asio::awaitable<Result<Next>> compute(UpdatePtr update) {
  if (update->job.computed_on == ComputedOn::strand) co_return update->job.compute(*update->found);
  const CancellationPtr none;
  auto [error, next] =
      co_await await<&start_computation, Next>(update->core, none, UpdatePtr{update});
  if (error) co_return error;
  co_return std::move(next);
}

// -- The write ------------------------------------------------------------------------------------

/// One write, with its repetitions.
struct Write {
  std::string bytes;
  std::string witness{};    ///< the path; empty if there is none
  std::string testimony{};  ///< what this write sets the witness to

  [[nodiscard]] Transaction transaction(const Update& update) const {
    Transaction all{set(update.node.path, bytes, update.found->version)};
    if (!witness.empty()) all.push_back(set(witness, testimony));
    if (update.lock) all.push_back(update.lock.check());
    return all;
  }
  /// The operation of transaction() that has failed.
  [[nodiscard]] Refused refused(const std::vector<TransactionResult>& results) const {
    const auto failed = std::ranges::find_if(results, [](const TransactionResult& each) {
      return each.error == ServerErrc::bad_version || each.error == ServerErrc::no_node;
    });
    if (failed == results.end()) return Refused::nothing;
    if (failed == results.begin()) return Refused::value;
    const bool is_second = failed == results.begin() + 1;
    return is_second && !witness.empty() ? Refused::witness : Refused::lock;
  }
};

/// Notes the success of a write.
void note_written(Update& update, Write write, std::int32_t version, std::int64_t mzxid) {
  update.done.before = std::move(*update.found);
  update.done.after = {std::move(write.bytes), version, mzxid};
  update.done.written = true;
}

/// Reads the witness behind a refusal. Within one session a server shows nothing older than what it
/// has answered before, so the read shows what the refused transaction has met.
asio::awaitable<Step> ask_witness(UpdatePtr update, Write write) {
  const Client& client = update->node.client;
  const std::int64_t session = client.session().id;
  const std::string path = write.witness;
  auto [error, seen] = co_await await<&start_get, GetResult>(update->core, update->job.cancellation,
                                                             path, update->job.options);
  if (error && error != ServerErrc::no_node) {
    update->error = end_error(error, update->doubt);
    co_return Step::fail;
  }
  if (client.session().id != session) co_return Step::repeat;
  const Testimony testimony = error                          ? Testimony::missing
                              : seen.data == write.testimony ? Testimony::of_this_update
                                                             : Testimony::of_another;
  const Step step = after_testimony(testimony);
  if (step == Step::fail) update->error = ServerErrc::connection_loss;
  // Both nodes were set by one transaction.
  const std::int32_t version = update->found->version + 1;
  if (step == Step::done) note_written(*update, std::move(write), version, seen.stat.mzxid);
  co_return step;
}

/// Writes, and finds out what became of it. The step is none of `repeat` and `ask_witness`.
asio::awaitable<Step> write(UpdatePtr update, std::string bytes) {
  Write what{.bytes = std::move(bytes)};
  if (update->settles()) {
    what.witness = update->line->witness.path();
    what.testimony = update->line->next_testimony(update->node.client.identity());
  }
  const OperationOptions options = update->job.options;
  const RetryPolicy policy = options.retry.value_or(update->node.client.retry_policy());
  for (int repetitions = 0;; ++repetitions) {
    Transaction transaction = what.transaction(*update);
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        update->core, update->job.cancellation, std::move(transaction), options);
    const TryAnswer answer{error, error ? what.refused(results) : Refused::nothing};
    Step step = after_try(answer, update->doubt, update->options.settle);
    if (error == ErrorCondition::outcome_unknown) update->doubt = Doubt::applied_perhaps;
    if (step == Step::done) {
      const Stat& stat = results.front().stat;
      note_written(*update, std::move(what), stat.version, stat.mzxid);
      co_return step;
    }
    if (step == Step::fail) update->error = end_error(error, update->doubt);
    if (step == Step::ask_witness) step = co_await ask_witness(update, what);
    if (step != Step::repeat) {
      if (step != Step::fail) update->doubt = Doubt::none;
      co_return step;
    }
    const auto wait = pause_of(policy, repetitions);
    if (!wait) {
      update->error = end_error(ServerErrc::connection_loss, update->doubt);
      co_return Step::fail;
    }
    co_await pause(update, *wait);
  }
}

// -- All of it ------------------------------------------------------------------------------------

/// Another client was quicker: pauses. Nothing is known of the value any more.
asio::awaitable<error_code> begin_again(UpdatePtr update, Step why) {
  if (why == Step::acquire_again) update->lock.release();
  if (why == Step::new_witness) update->line->witness = {};
  update->found.reset();
  const auto wait = pause_of(update->options.contention, update->done.tries - 1);
  if (!wait) co_return ServerErrc::bad_version;
  co_await pause(update, *wait);
  co_return error_code{};
}

asio::awaitable<Result<Updated<std::string>>> run(UpdatePtr update) {
  ValueLine::Place place{*update->line};
  const asio::any_io_executor strand = update->node.client.get_executor();
  const error_code late =
      co_await place.wait_for_turn(strand, update->job.options.deadline, update->job.cancellation);
  if (late) co_return late;
  update->found = update->job.known;
  for (;;) {
    const error_code unready = co_await get_ready(update);
    if (unready) co_return unready;
    Result<Next> next = co_await compute(update);
    if (!next || !*next) {
      if (!update->is_fresh) {
        update->found.reset();
        const error_code unread = co_await read_value(update);
        if (unread) co_return unread;
        continue;
      }
      if (!next) co_return next.error();
      update->done.before = *update->found;
      update->done.after = std::move(*update->found);
      co_return std::move(update->done);
    }
    std::string bytes = std::move(**next);
    const Step step = co_await write(update, std::move(bytes));
    if (step == Step::fail) co_return update->error;
    ++update->done.tries;
    if (step == Step::done) {
      // Where others write, too, the next update reads.
      if (update->settles() && update->done.tries == 1) update->line->copy = update->done.after;
      co_return std::move(update->done);
    }
    const error_code ended = co_await begin_again(update, step);
    if (ended) co_return ended;
  }
}

}  // namespace

asio::awaitable<Result<Updated<std::string>>> update(UpdateJob job) {
  auto begun = std::make_shared<Update>(std::move(job));
  co_return co_await run(std::move(begun));
}

}  // namespace custodian::recipes_detail
