#include "custodian/periodic/once_per_period.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"
#include "periodic/period_record.hpp"
#include "periodic/period_rules.hpp"
#include "periodic/periods.hpp"
#include "periodic/turn_state.hpp"

// A call begins in these steps:
//
// 1. Look: write to the clock's node, so that the time is the servers', and read the record.
// 2. Decide. Most calls end here, without the lock, for a period that has run already.
// 3. Acquire the lock, but wait only briefly, and look again: its holder may have begun a run.
// 4. With the lock held, look and decide once more.
// 5. Write that the run has begun, if the lock is still held, and the record is still that of
//    step 4.
//
// The run ends with a write that needs the version of step 5, so that it never overwrites a later
// run.

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {
namespace {

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

using std::chrono::milliseconds;

/// How long a call waits for the lock before it looks again. At first that is about the time of a
/// holder's steps 4 and 5.
milliseconds patience_of(int tries) { return milliseconds{100 << std::min(tries, 4)}; }

TurnResult without_turn(const Periods& periods, RecordSight seen, NotDue reason) {
  TurnResult result{.reason = reason, .last = std::move(seen.last)};
  if (result.last && reason != NotDue::is_running) {
    result.next = next_call(*result.last, periods.terms);
  }
  return result;
}

TurnResult with_turn(PeriodsPtr periods, Lease lease, PeriodRun run, std::int32_t version,
                     std::optional<PeriodRun> before) {
  auto state = std::make_shared<TurnState>(TurnState{.periods = std::move(periods),
                                                     .lease = std::move(lease),
                                                     .run = std::move(run),
                                                     .version = version});
  return {.turn = Turn{std::move(state)}, .last = std::move(before)};
}

/// Whether another look at the record shows what became of a failed write.
bool is_worth_a_look(const error_code& error) {
  return is_doubtful(error) || error == ServerErrc::bad_version ||
         error == ServerErrc::node_exists || error == ServerErrc::no_node;
}

/// Steps 4 and 5. Completes with lock_lost if the lock is not held any more.
asio::awaitable<Result<TurnResult>> begin_under(PeriodsPtr periods, CancellationPtr cancellation,
                                                OperationOptions limits, Lease lease,
                                                std::string id) {
  const CorePtr core = periods->client.core();
  std::optional<PeriodRun> before;
  for (int failures = 0;; ++failures) {
    Result<RecordSight> seen = co_await look(periods, cancellation, limits);
    if (!seen) co_return seen.error();
    if (seen->last && seen->last->id == id) {
      const bool is_of_this_lease = seen->last->node == name_of(lease.node());
      // An earlier try, whose reply was lost, was applied.
      if (is_of_this_lease && seen->last->state == RunState::running) {
        co_return with_turn(periods, std::move(lease), std::move(*seen->last), seen->version,
                            std::move(before));
      }
      // It was applied under a lock that was lost before the job could begin.
      seen->last->state = RunState::not_begun;
    }
    if (lease.state() == LeaseState::lost) co_return Errc::lock_lost;
    const Decision decision = decide(seen->last, seen->now, periods->terms);
    if (decision.reason != NotDue::none) {
      co_return without_turn(*periods, std::move(*seen), decision.reason);
    }
    PeriodRun run{.by = periods->identity,
                  .node = std::string{name_of(lease.node())},
                  .id = id,
                  .every = periods->terms.every,
                  .due = decision.due,
                  .begun = seen->now,
                  .attempt = decision.attempt,
                  .missed = decision.missed};
    Transaction both{lease.check(), seen->last ? set(periods->record, encode(run), seen->version)
                                               : create(periods->record, encode(run))};
    before = std::move(seen->last);
    auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        core, cancellation, std::move(both), limits);
    if (!error) {
      const std::int32_t version = before ? results.back().stat.version : 0;
      co_return with_turn(periods, std::move(lease), std::move(run), version, std::move(before));
    }
    // The check of the lock has failed: its node was deleted.
    if (!results.empty() && results.front().error == ServerErrc::no_node) co_return Errc::lock_lost;
    if (!is_worth_a_look(error)) co_return error;
    const error_code unpaused =
        co_await pause_after(periods, error, failures, cancellation, limits);
    if (unpaused) co_return unpaused;
  }
}

asio::awaitable<Result<TurnResult>> begin_turn(PeriodsPtr periods, CancellationPtr cancellation,
                                               OperationOptions limits) {
  const CorePtr core = periods->client.core();
  const std::string id = make_uuid();
  for (int tries = 0;; ++tries) {
    Result<RecordSight> seen = co_await look(periods, cancellation, limits);
    if (!seen) co_return seen.error();
    if (seen->last && seen->last->id == id) seen->last->state = RunState::not_begun;
    const Decision decision = decide(seen->last, seen->now, periods->terms);
    if (decision.reason != NotDue::none) {
      co_return without_turn(*periods, std::move(*seen), decision.reason);
    }
    const WaitLimit brief{.deadline = std::min(limits.deadline, Deadline{patience_of(tries)})};
    AcquireOptions terms;
    const LockSpecPtr lock = periods->lock.spec();
    auto [error, acquired] = co_await await<&start_acquire, AcquireResult>(core, cancellation, lock,
                                                                           brief, std::move(terms));
    // The call's node in the queue was deleted: the call queues again, until its deadline.
    if (error == Errc::node_deleted) continue;
    if (error) co_return error;
    if (acquired) {
      std::string same = id;
      Result<TurnResult> begun = co_await begin_under(periods, cancellation, limits,
                                                      std::move(acquired.lease), std::move(same));
      if (begun || begun.error() != Errc::lock_lost) co_return begun;
    } else if (limits.deadline.passed()) {
      if (acquired.reason != NotAcquired::blocked) co_return Errc::deadline_exceeded;
      TurnResult blocked = without_turn(*periods, std::move(*seen), NotDue::blocked);
      blocked.next.reset();
      blocked.blocked_by = std::move(acquired.blocked_by);
      co_return blocked;
    }
  }
}

/// Whether the record has the end of this turn, because an earlier try has written it.
asio::awaitable<Result<bool>> has_end(TurnStatePtr turn, CancellationPtr cancellation,
                                      OperationOptions limits, std::string written) {
  const CorePtr core = turn->periods->client.core();
  const std::string record = turn->periods->record;
  auto [error, found] = co_await await<&start_get, GetResult>(core, cancellation, record, limits);
  if (error) co_return failed<bool>(error);
  co_return found.data == written;
}

asio::awaitable<Result<void>> write_end(TurnStatePtr turn, CancellationPtr cancellation,
                                        OperationOptions limits, std::string end) {
  const CorePtr core = turn->periods->client.core();
  const std::string record = turn->periods->record;
  for (int failures = 0;; ++failures) {
    const SetOptions over_the_begin{
        .version = turn->version, .deadline = limits.deadline, .retry = limits.retry};
    std::string data = end;
    const auto [error, stat] = co_await await<&start_set, Stat>(core, cancellation, record,
                                                                std::move(data), over_the_begin);
    if (!error) co_return Result<void>{};
    if (error == ServerErrc::bad_version) {
      std::string same = end;
      const Result<bool> is_there = co_await has_end(turn, cancellation, limits, std::move(same));
      if (!is_there) co_return is_there.error();
      if (*is_there) co_return Result<void>{};
      co_return Errc::lock_lost;
    }
    if (!is_doubtful(error)) co_return error;
    const error_code unpaused =
        co_await pause_after(turn->periods, error, failures, cancellation, limits);
    if (unpaused) co_return unpaused;
  }
}

asio::awaitable<Result<void>> end_turn(TurnStatePtr turn, CancellationPtr cancellation,
                                       OperationOptions limits, std::string end) {
  Result<void> written = co_await write_end(turn, cancellation, limits, std::move(end));
  turn->lease.release();
  co_return written;
}

asio::awaitable<Result<std::optional<PeriodRun>>> last_run(PeriodsPtr periods,
                                                           CancellationPtr cancellation,
                                                           OperationOptions limits) {
  const CorePtr core = periods->client.core();
  const std::string record = periods->record;
  // Synced, since a server that lags behind would not show a run that another process has just
  // begun.
  const auto [error] = co_await await<&start_sync>(core, cancellation, record, limits);
  if (error) co_return error;
  Result<RecordSight> seen = co_await read_record(periods, cancellation, limits);
  if (!seen) co_return seen.error();
  co_return std::move(seen->last);
}

OperationOptions with_deadline(const Periods& periods, OperationOptions options) {
  options.deadline = periods.client.deadline_or_default(options.deadline);
  return options;
}

}  // namespace

void start_begin_turn(CorePtr core, CancellationPtr cancellation, PeriodsPtr periods,
                      OperationOptions options, Handler<TurnResult> handler) {
  const OperationOptions limits = with_deadline(*periods, options);
  const std::string what = "beginning the run of " + periods->path;
  spawn(core, what, begin_turn(std::move(periods), std::move(cancellation), limits),
        std::move(handler));
}

void start_end_turn(CorePtr core, CancellationPtr cancellation, TurnStatePtr turn, RunEnd end,
                    OperationOptions options, Handler<> handler) {
  const OperationOptions limits = with_deadline(*turn->periods, options);
  PeriodRun ended = turn->run;
  ended.state = end.state;
  ended.status = end.status;
  ended.lasted = std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - turn->began);
  const std::string what = "ending the run of " + turn->periods->path;
  spawn(core, what, end_turn(std::move(turn), std::move(cancellation), limits, encode(ended)),
        std::move(handler));
}

void start_last_run(CorePtr core, CancellationPtr cancellation, PeriodsPtr periods,
                    OperationOptions options, Handler<std::optional<PeriodRun>> handler) {
  const OperationOptions limits = with_deadline(*periods, options);
  const std::string what = "reading the record of " + periods->path;
  spawn(core, what, last_run(std::move(periods), std::move(cancellation), limits),
        std::move(handler));
}

CorePtr core_of_turn(const TurnStatePtr& turn, const RunEnd& end) {
  if (!turn) throw Error{Errc::lock_lost, "Turn::end", "", "an empty turn has no end"};
  if (end.state == RunState::running || end.state == RunState::broken_off) {
    throw Error{Errc::invalid_argument, "Turn::end", turn->periods->path,
                "a run ends as succeeded, failed or not_begun"};
  }
  return turn->periods->client.core();
}

}  // namespace recipes_detail

using recipes_detail::Periods;

namespace {

recipes_detail::PeriodsPtr make_periods(const Client& client, std::string path,
                                        PeriodOptions options) {
  const CorePtr& core = client.core();
  check_path(core, "OncePerPeriod", path);
  if (path == "/") {
    throw Error{Errc::invalid_argument, "OncePerPeriod", path, "a job has a node of its own"};
  }
  constexpr std::chrono::hours longest{24 * 3660};
  if (options.every < std::chrono::seconds{1} || options.every > longest) {
    throw Error{Errc::invalid_argument, "OncePerPeriod", path, "every: a second to ten years"};
  }
  if (options.identity.empty()) options.identity = client.identity();
  std::string record = join(path, "record");
  check_create(core, record, {}, {});
  LockOptions lock;
  lock.identity = options.identity;
  lock.lease = options.lease;
  InterProcessMutex mutex{client, join(path, "lock"), std::move(lock)};
  std::string clock = join(path, "clock");
  return std::make_shared<const Periods>(
      Periods{.client = client.share(),
              .path = std::move(path),
              .record = std::move(record),
              .clock = std::move(clock),
              .lock = std::move(mutex),
              .terms = {.every = options.every, .after_failure = options.after_failure},
              .identity = std::move(options.identity)});
}

}  // namespace

// -- The turn -------------------------------------------------------------------------------------

Turn::Turn() noexcept = default;
Turn::Turn(recipes_detail::TurnStatePtr state) noexcept : state_{std::move(state)} {}
Turn::Turn(Turn&&) noexcept = default;
Turn& Turn::operator=(Turn&&) noexcept = default;
Turn::~Turn() = default;

const Lease& Turn::lease() const noexcept { return state_->lease; }

const PeriodRun& Turn::run() const noexcept { return state_->run; }

void Turn::end(RunEnd end, OperationOptions options) {
  const CorePtr core = recipes_detail::core_of_turn(state_, end);
  block_in_time_or_throw<&recipes_detail::start_end_turn>(
      core, "Turn::end", state_->periods->path, {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, state_, end, options);
}

std::string TurnResult::explain() const {
  if (reason == NotDue::none) return {};
  if (reason == NotDue::blocked) {
    return recipes_detail::explain(NotAcquired::blocked, blocked_by);
  }
  if (!last) return {};
  const std::string since = ", begun " + recipes_detail::time_text(last->begun);
  switch (reason) {
    case NotDue::is_running: return last->by + " is running it" + since;
    case NotDue::has_failed:
      return last->by + " has run it" + since +
             (last->state == RunState::failed ? ", and it has failed" : ", and has not ended it");
    case NotDue::too_soon: return "it is too soon after the run of " + last->by + since;
    case NotDue::clock_behind: return "the servers' clock is behind the run of " + last->by + since;
    default: return last->by + " has run it" + since;
  }
}

// -- The periods ----------------------------------------------------------------------------------

OncePerPeriod::OncePerPeriod(const Client& client, std::string path, PeriodOptions options)
    : core_{client.core()}, periods_{make_periods(client, std::move(path), std::move(options))} {}

const std::string& OncePerPeriod::path() const noexcept { return periods_->path; }

const std::string& OncePerPeriod::record_path() const noexcept { return periods_->record; }

TurnResult OncePerPeriod::try_begin(OperationOptions options, std::stop_token stop) const {
  return block_in_time_or_throw<&recipes_detail::start_begin_turn, TurnResult>(
      core_, "OncePerPeriod::try_begin", path(), std::move(stop),
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, periods_, options);
}

std::optional<PeriodRun> OncePerPeriod::last_run(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_last_run, std::optional<PeriodRun>>(
      core_, "OncePerPeriod::last_run", record_path(), {}, {options.deadline}, periods_, options);
}

}  // namespace custodian
