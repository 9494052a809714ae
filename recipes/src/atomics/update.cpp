#include "atomics/update.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "async/backoff.hpp"
#include "atomics/atomic_codec.hpp"
#include "atomics/elapsed.hpp"
#include "atomics/update_batch.hpp"
#include "atomics/update_chain.hpp"
#include "atomics/update_step.hpp"
#include "atomics/write_needs.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/thrown.hpp"

// A batch of updates, often of a single one:
//
// 1. Wait until the earlier updates of this client have ended. Updates that come meanwhile join.
// 2. Get ready what the write needs: the lock, if the update is to be promoted; the witness, if a
//    lost reply is to be settled; the value.
// 3. Compute what to write: each update goes on from the value that the update before has left.
// 4. Write, if the node still has the version that was read. If the reply is lost, find out whether
//    the write was applied.
// 5. If another client was quicker, pause, and go on with 2.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

using Next = std::optional<std::string>;
using Sent = std::tuple<error_code, std::vector<TransactionResult>>;

asio::awaitable<void> pause(UpdatePtr update, std::chrono::milliseconds duration) {
  co_await pause_for(update->node.client, duration, update->limits.deadline, update->cancellation);
}

std::optional<std::chrono::milliseconds> pause_of(const Update& update, const RetryPolicy& policy,
                                                  int retries) {
  return pause_before(policy, retries, elapsed_since(update.batch->called));
}

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
  /// Which operation of transaction() has failed.
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

// -- What to write --------------------------------------------------------------------------------

void start_computation(CorePtr core, CancellationPtr, UpdatePtr update, UpdateCallPtr call,
                       Handler<Next> handler) {
  const Client& client = update->node.client;
  asio::post(
      client.callback_executor(), [core, update, call, handler = std::move(handler)]() mutable {
        Result<Next> next = Next{};
        try {
          next = call->job.compute(update->chain->now());
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

asio::awaitable<Result<Next>> compute(UpdatePtr update, UpdateCallPtr call) {
  if (call->job.computed_on == ComputedOn::strand) {
    co_return call->job.compute(update->chain->now());
  }
  const CorePtr core = update->core;
  const CancellationPtr none;
  auto [error, next] = co_await await<&start_computation, Next>(core, none, update, call);
  if (error) co_return error;
  co_return std::move(next);
}

/// Why the servers would not accept a write of these bytes: together with the witness and the check
/// of the lock it may be too large.
error_code objection_to(const Update& update, const std::string& bytes) {
  Write planned{.bytes = bytes};
  if (update.settles()) {
    constexpr auto longest = std::numeric_limits<std::uint64_t>::max();
    planned.witness = update.line->witness.path();
    planned.testimony = update.node.client.identity() + " " + std::to_string(longest);
  }
  const Transaction all = planned.transaction(update);
  try {
    if (all.size() > 1) {
      check_commit(update.core, all);
    } else {
      check_set(update.core, update.node.path, bytes);
    }
  } catch (const Error& refused) {
    update.node.client.log(LogLevel::error,
                           "updating " + update.node.path + " has failed: " + refused.what());
    return refused.code();
  }
  return {};
}

/// Computes the updates one after the other.
asio::awaitable<void> compute_all(UpdatePtr update) {
  for (;;) {
    update->computed = update->batch->calls();
    update->chain.emplace(*update->found);
    for (const UpdateCallPtr& call : update->computed) {
      Result<Next> next = co_await compute(update, call);
      // An update that is refused fails by itself. The others, which share the write, go on without
      // it.
      if (next && *next) {
        if (const error_code refused = objection_to(*update, **next)) next = refused;
      }
      update->chain->add(std::move(next));
    }
    // If a caller has given up meanwhile, all is computed again without its update.
    if (update->batch->calls() == update->computed) co_return;
  }
}

// -- The write ------------------------------------------------------------------------------------

/// Notes the success of a write.
void note_written(Update& update, Write write, std::int32_t version, const Stat& stat) {
  update.written = Stored{{std::move(write.bytes), version, stat.mzxid}, stat.modified};
}

/// Reads the witness after a refusal. Within one session a server shows nothing older than its
/// earlier answers, so the read shows the witness that the refused transaction has met.
asio::awaitable<Step> ask_witness(UpdatePtr update, Write write) {
  const Client& client = update->node.client;
  const std::int64_t session = client.session().id;
  const std::string path = write.witness;
  auto [error, seen] = co_await await<&start_get, GetResult>(update->core, update->cancellation,
                                                             path, update->limits);
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
  // One transaction has set both nodes, so the witness's Stat has the value's mzxid and time.
  const auto version = wrapping_sum<std::int32_t>(update->found->version, 1);
  if (step == Step::done) note_written(*update, std::move(write), version, seen.stat);
  co_return step;
}

/// Sends a write. A single operation is sent without a transaction, which costs the servers less.
asio::awaitable<Sent> send(UpdatePtr update, Write write) {
  Transaction all = write.transaction(*update);
  if (all.size() > 1) {
    co_return co_await await<&start_commit, std::vector<TransactionResult>>(
        update->core, update->cancellation, std::move(all), update->limits);
  }
  const SetOptions if_unchanged{.version = update->found->version,
                                .deadline = update->limits.deadline,
                                .retry = update->limits.retry};
  const auto [error, stat] = co_await await<&start_set, Stat>(
      update->core, update->cancellation, update->node.path, std::move(write.bytes), if_unchanged);
  std::vector<TransactionResult> one(1);
  one.front().error = error;
  one.front().stat = stat;
  co_return Sent{error, std::move(one)};
}

/// Writes, and finds out whether the write was applied. Never returns `repeat` or `ask_witness`.
asio::awaitable<Step> write(UpdatePtr update, std::string bytes) {
  Write what{.bytes = std::move(bytes)};
  if (update->settles()) {
    what.witness = update->line->witness.path();
    what.testimony = update->line->next_testimony(update->node.client.identity());
  }
  const RetryPolicy policy = update->limits.retry.value_or(update->node.client.retry_policy());
  for (int repetitions = 0;; ++repetitions) {
    const auto [error, results] = co_await send(update, what);
    const TryAnswer answer{error, error ? what.refused(results) : Refused::nothing};
    Step step = after_try(answer, update->doubt, update->options.settle);
    if (error == ErrorCondition::outcome_unknown) update->doubt = Doubt::applied_perhaps;
    if (step == Step::done) {
      const Stat& stat = results.front().stat;
      note_written(*update, std::move(what), stat.version, stat);
      co_return step;
    }
    if (step == Step::fail) update->error = end_error(error, update->doubt);
    if (step == Step::ask_witness) step = co_await ask_witness(update, what);
    if (step != Step::repeat) {
      if (step != Step::fail) update->doubt = Doubt::none;
      co_return step;
    }
    const auto wait = pause_of(*update, policy, repetitions);
    if (!wait) {
      update->error = end_error(ServerErrc::connection_loss, update->doubt);
      co_return Step::fail;
    }
    co_await pause(update, *wait);
  }
}

// -- All of it ------------------------------------------------------------------------------------

/// Forgets the value and pauses, because another client was quicker, or the lock or witness is
/// gone.
asio::awaitable<error_code> begin_again(UpdatePtr update, Step why) {
  const bool was_expected = update->computed.front()->job.known.has_value();
  if (why == Step::acquire_again) update->lock.release();
  if (why == Step::new_witness) update->line->witness = {};
  if (why == Step::read_again && update->is_copy) update->line->trust.note_refused();
  update->found.reset();
  // A value that the caller expected does not come back: the next read ends the update.
  if (why == Step::read_again && was_expected) co_return error_code{};
  const auto wait = pause_of(*update, update->options.contention, update->done.tries - 1);
  if (!wait) co_return ServerErrc::bad_version;
  co_await pause(update, *wait);
  co_return error_code{};
}

/// What the update leaves for the next one.
void leave_copy(Update& update) {
  ValueLine& line = *update.line;
  line.has_updated = true;
  if (update.is_copy && update.done.tries == 1) line.trust.note_held();
  // Where others write, too, no copy is left, and the next update reads.
  if (line.trust.leaves_copy() && update.done.tries == 1) line.copy = update.written;
}

void end(Update& update) {
  auto results = update.chain->results(update.written);
  for (Result<StoredUpdate>& each : results) {
    if (!each) continue;
    each->tries = update.done.tries;
    each->promoted = update.done.promoted;
  }
  update.batch->end(update.computed, results);
}

/// The value that the caller says to have read. If replies are settled by a witness, the value is
/// used only if the node is certainly the same: the value was written after the witness was created
/// below the node, or by the transaction that has created both.
std::optional<Stored> known_value(const Update& update) {
  const auto& known = update.batch->calls().front()->job.known;
  if (!known) return std::nullopt;
  const std::int64_t since = update.line->witness.stat().czxid;
  const bool is_same_node = !update.settles() || (since != 0 && known->mzxid >= since);
  return is_same_node ? std::optional{Stored{*known}} : std::nullopt;
}

/// To the servers the version -1 means any version, so a write could overwrite another one.
error_code refuse_version(const Update& update) {
  update.node.client.log(LogLevel::error,
                         "cannot update " + update.node.path +
                             ": its version is -1, after 2^32 writes, which no write can name; one "
                             "set of any version makes it 0");
  return Errc::sequence_exhausted;
}

/// Ends all updates of the batch, or returns why they fail.
asio::awaitable<error_code> run(UpdatePtr update) {
  update->found = known_value(*update);
  for (;;) {
    const error_code unready = co_await get_ready(update);
    if (unready) co_return unready;
    co_await compute_all(update);
    const bool has_no_version = update->found->version == any_version;
    if (!update->chain->writes() || has_no_version) {
      if (!update->is_fresh) {
        update->found.reset();
        const error_code unread = co_await read_value(update);
        if (unread) co_return unread;
        continue;
      }
      if (update->chain->writes()) co_return refuse_version(*update);
      end(*update);
      co_return error_code{};
    }
    std::string bytes = update->chain->now().value;
    update->batch->phase = UpdateBatch::Phase::writing;
    const Step step = co_await write(update, std::move(bytes));
    if (step == Step::fail) co_return update->error;
    update->batch->phase = UpdateBatch::Phase::preparing;
    ++update->done.tries;
    if (step == Step::done) {
      leave_copy(*update);
      end(*update);
      co_return error_code{};
    }
    const error_code ended = co_await begin_again(update, step);
    if (ended) co_return ended;
  }
}

asio::awaitable<void> run_batch(UpdateBatchPtr batch) {
  error_code error = co_await batch->begin();
  if (!error) {
    auto begun = std::make_shared<Update>(batch);
    error = co_await run(std::move(begun));
  }
  batch->end(error);
  batch->end_turn();
}

}  // namespace

asio::awaitable<Result<StoredUpdate>> update(UpdateJob job) {
  const UpdateBatchPtr joined = UpdateBatch::to_join(job);
  const UpdateBatchPtr batch = joined ? joined : UpdateBatch::at_end_of_line(job);
  const SharedNode& value = *batch->node->value;
  const UpdateCallPtr call = batch->add(std::move(job));
  if (!joined) {
    spawn(value.client.core(), "updating " + value.path, run_batch(batch),
          [batch](error_code thrown) {
            batch->end(thrown);
            batch->end_turn();
          });
  }
  co_return co_await UpdateBatch::outcome(batch, call);
}

}  // namespace custodian::recipes_detail
