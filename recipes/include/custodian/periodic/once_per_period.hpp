#pragma once

/// \file
/// OncePerPeriod lets one of many processes run a job, at most once per period: what cron does on
/// one machine, for several machines, any of which may be away, and whose clocks may be wrong.
///
///     OncePerPeriod nightly{client, "/jobs/report", {.every = 24h}};
///     if (auto result = nightly.try_begin()) {  // in each process, by its own clock
///       report(result.turn.lease().lost());
///       result.turn.end(RunEnd::success());
///     }
///
/// **What a period is.** The first run of all begins the first period, and a run is *due* every
/// `every` from then on. A call counts for a due time from a tenth of a period before it until a
/// tenth before the next one, and the first such call has the turn. So a call that comes a little
/// early, as cron's may, counts for the period that it is meant for; and the borders are far from
/// the calls, wherever in the hour or the day these are. If no call comes for a whole period, the
/// periods begin anew with the next call.
///
/// **What is promised.** In each period at most one run begins, and two runs begin half a period
/// apart or more; only a run whose job could not be begun may be repeated before that, and with
/// `AfterFailure::retry` also a run that has failed or was broken off. That holds whatever the
/// clocks of the callers say, since none of them is read: the time is that of the servers' leader,
/// as the servers note it with each write. (If the leader's clock is set forward, that counts as
/// time; if it is set back, no run is due until it has caught up.) A run is written down *before*
/// it begins, by a transaction that succeeds only while the run's lock is held and the record is
/// still the one that the decision was based on. So a process that dies in its run, or loses its
/// lock, has used up its period (`AfterFailure::retry`: until the next call), and a process that
/// stood still and is late cannot write over a later run.
///
/// When not to use it: for a job that must never run twice at once, whatever happens, unless the
/// resource that it changes checks the fencing token; for a job that must run at a certain second;
/// to spread work (SetPartitioner), or to let one process go on and on (LeaderLatch); for periods
/// of less than some seconds.
///
/// The nodes, all below `path`: `record` says in words which run was the last; `lock` is an
/// InterProcessMutex, held while a job runs; `clock` is written to read the servers' clock. A
/// record that this version cannot read is an error (malformed_data), and stays as it is.
///
/// Threads: any. Lifetimes: a handle, which may be copied. The client may be destroyed first (calls
/// then fail with closed).

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

/// What becomes of a period whose run has failed, or was broken off.
enum class AfterFailure : std::uint8_t {
  skip,   ///< nothing: the period is used up, and the next run is that of the next period
  retry,  ///< the next call in the same period runs again
};

/// The options of OncePerPeriod. All processes name the same period.
struct PeriodOptions {
  /// The length of a period: a second to ten years, in whole milliseconds.
  std::chrono::milliseconds every{0};
  /// What becomes of a period whose run has failed.
  AfterFailure after_failure = AfterFailure::skip;
  /// The caller's name in the record and in the lock. Empty: the client's identity.
  std::string identity{};
  /// The terms of the lease under which a job runs.
  LeaseOptions lease{};
};

/// How far a run has come.
enum class RunState : std::uint8_t {
  running,     ///< the run has begun, and its process holds the lock
  succeeded,   ///< the run has ended, and its job has succeeded
  failed,      ///< the run has ended, and its job has failed
  not_begun,   ///< the job could not be begun: this counts as no run
  broken_off,  ///< the run has begun, and has no end: its process died, or lost the lock
};
/// The state in words, as in the record: "broken off".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(RunState state) noexcept;

/// A run, as the record has it.
struct PeriodRun {
  /// A time by the clock of the servers' leader, in milliseconds.
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;

  /// How far the run has come.
  RunState state = RunState::running;
  /// Whose run it is: the identity of its process.
  std::string by{};
  /// The name of the node by which its process holds the lock.
  std::string node{};
  /// A name that no other run has.
  std::string id{};
  /// The length of a period, as that process has it.
  std::chrono::milliseconds every{0};
  /// When it was due.
  Time due{};
  /// When it has begun.
  Time begun{};
  /// 1 for the first run of a period, and one more for each repetition.
  int attempt = 1;
  /// How many periods have passed without a successful run since the last successful one; the run's
  /// own period does not count.
  std::int64_t missed = 0;
  /// The exit status, of a command that has ended.
  std::optional<int> status{};
  /// How long it took, by the clock of its process.
  std::optional<std::chrono::milliseconds> lasted{};

  /// Equal if all members are equal.
  friend bool operator==(const PeriodRun&, const PeriodRun&) = default;
};

/// How a run has ended.
struct RunEnd {
  /// succeeded, failed or not_begun.
  RunState state = RunState::succeeded;
  /// The exit status, for those who read the record.
  std::optional<int> status{};

  /// The job has succeeded.
  [[nodiscard]] static RunEnd success() { return {}; }
  /// The job has failed.
  [[nodiscard]] static RunEnd failure() { return {.state = RunState::failed}; }
  /// The job could not be begun, so that the next call may run it.
  [[nodiscard]] static RunEnd not_begun() { return {.state = RunState::not_begun}; }
};

/// Why a call has no turn.
enum class NotDue : std::uint8_t {
  none,          ///< the call has a turn
  has_run,       ///< the period's run has ended
  is_running,    ///< a run is under way, of this period or of an earlier one
  has_failed,    ///< the period's run has failed, or was broken off
  too_soon,      ///< the last run began less than half a period ago
  clock_behind,  ///< the servers' clock has not reached the time at which the last run began
  blocked,       ///< another client holds the lock, and has not begun a run: see `blocked_by`
};

namespace recipes_detail {
struct Periods;
using PeriodsPtr = std::shared_ptr<const Periods>;
struct TurnState;
using TurnStatePtr = std::shared_ptr<TurnState>;
}  // namespace recipes_detail

class Turn;
struct TurnResult;

namespace recipes_detail {
CUSTODIAN_EXPORT void start_begin_turn(CorePtr core, CancellationPtr cancellation,
                                       PeriodsPtr periods, OperationOptions options,
                                       Handler<TurnResult> handler);
CUSTODIAN_EXPORT void start_end_turn(CorePtr core, CancellationPtr cancellation, TurnStatePtr turn,
                                     RunEnd end, OperationOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_last_run(CorePtr core, CancellationPtr cancellation, PeriodsPtr periods,
                                     OperationOptions options,
                                     Handler<std::optional<PeriodRun>> handler);
/// Throws Error: lock_lost for an empty turn, invalid_argument for an `end` whose state is not one
/// of an end.
[[nodiscard]] CUSTODIAN_EXPORT CorePtr core_of_turn(const TurnStatePtr& turn, const RunEnd& end);
}  // namespace recipes_detail

/// The turn to run the job of a period: it holds the lock, and the record names its run. Move-only;
/// an empty turn holds nothing.
///
/// Destroying a turn that was not ended releases the lock, and writes nothing: the run counts as
/// broken off. Threads: one at a time.
class [[nodiscard]] CUSTODIAN_EXPORT Turn {
 public:
  /// An empty turn.
  Turn() noexcept;
  /// For the library.
  explicit Turn(recipes_detail::TurnStatePtr state) noexcept;
  /// A moved-from turn is empty.
  Turn(Turn&&) noexcept;
  /// Ends the turn that this object was before, as the destructor does.
  Turn& operator=(Turn&&) noexcept;
  ~Turn();

  /// Whether the turn is not empty.
  [[nodiscard]] explicit operator bool() const& noexcept { return state_ != nullptr; }
  explicit operator bool() const&& = delete;

  /// The lease on the lock, for its loss (which should end the job), its token, and its check.
  /// Empty once the turn has ended. The turn must not be empty.
  [[nodiscard]] const Lease& lease() const noexcept;
  /// What the record says of this run. The turn must not be empty.
  [[nodiscard]] const PeriodRun& run() const noexcept;

  /// Writes the end of the run into the record, and releases the lock, even if the call ends with
  /// an error.
  /// Completes with: error.
  /// Cancellation: total; the end may have been written.
  /// Errors: lock_lost (a later run has begun meanwhile: the record is that run's); no_node
  /// (somebody has removed the record); and those common to all operations of a Client. After an
  /// error that is outcome_unknown the end may have been written. Throws at once: lock_lost for an
  /// empty turn, invalid_argument for an `end` whose state is not one of an end. Executor: the
  /// handler's, or the client's callback executor.
  template <typename Token>
  auto async_end(RunEnd end, OperationOptions options, Token&& token) {
    CorePtr core = recipes_detail::core_of_turn(state_, end);
    return initiate<void(error_code), &recipes_detail::start_end_turn>(
        std::move(core), std::forward<Token>(token), state_, end, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_end(RunEnd end, Token&& token) {
    return async_end(end, OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form. Throws Error.
  void end(RunEnd end, OperationOptions options = {});

 private:
  recipes_detail::TurnStatePtr state_;
};

/// A turn, or the reason why there is none.
struct [[nodiscard]] TurnResult {
  /// The turn. Empty if the call has none.
  Turn turn{};
  /// Why there is no turn.
  NotDue reason = NotDue::none;
  /// The last run, as the record had it; if there is a turn, the run before it. Empty if no run has
  /// ever begun.
  std::optional<PeriodRun> last{};
  /// The time from which on a call may have a turn. Empty if that is not known.
  std::optional<PeriodRun::Time> next{};
  /// The contender that was in the way, with NotDue::blocked.
  std::optional<Participant> blocked_by{};

  /// The reason as a sentence without a full stop: "host/4711 has run it, begun
  /// 2026-11-27T10:00:00.113Z". Empty if there is a turn.
  [[nodiscard]] CUSTODIAN_EXPORT std::string explain() const;
  /// Whether there is a turn.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(turn); }
  explicit operator bool() const&& = delete;
};

/// Lets one of many processes run a job, at most once per period.
/// \copydetails custodian/periodic/once_per_period.hpp
class CUSTODIAN_EXPORT OncePerPeriod {
 public:
  /// `path` is a node of the job's own. Contacts no server. Throws Error (invalid_argument) if it
  /// is not a valid path, or the root, or if the period is too short or too long.
  OncePerPeriod(const Client& client, std::string path, PeriodOptions options);

  /// The path of the job.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The path of the record.
  [[nodiscard]] const std::string& record_path() const noexcept;

  /// \name The turn
  /// Errors, for all: malformed_data (this version cannot read the record, which stays as it is);
  /// closed, no_auth, and those common to all operations of a Client. After an error that is
  /// outcome_unknown, or a cancellation, the period may count as begun, and be used up.
  /// \{

  /// Begins the run of the period, if it is this caller's turn. Asks the servers, and waits for
  /// another caller that is deciding the same at that moment; never for a caller that runs the job.
  /// Completes with: error, the result.
  /// Cancellation: total.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_try_begin(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, TurnResult), &recipes_detail::start_begin_turn>(
        core_, std::forward<Token>(token), periods_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_try_begin(Token&& token) const {
    return async_try_begin(OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form; `stop` ends it with operation_aborted. Throws Error.
  [[nodiscard]] TurnResult try_begin(OperationOptions options = {},
                                     std::stop_token stop = {}) const;

  /// Reads the record: the last run of any process, or nothing if no run has ever begun.
  /// Completes with: error, the run. All else is as for async_try_begin().
  template <typename Token>
  auto async_last_run(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::optional<PeriodRun>), &recipes_detail::start_last_run>(
        core_, std::forward<Token>(token), periods_, options);
  }
  /// The blocking form. Throws Error.
  [[nodiscard]] std::optional<PeriodRun> last_run(OperationOptions options = {}) const;
  /// \}

 private:
  CorePtr core_;
  recipes_detail::PeriodsPtr periods_;
};

}  // namespace custodian
