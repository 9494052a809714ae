#include "periodic/periods.hpp"

#include <boost/asio/error.hpp>
#include <chrono>
#include <utility>

#include "async/backoff.hpp"
#include "async/present_session.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/result.hpp"
#include "periodic/period_record.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

asio::awaitable<error_code> pause_after(PeriodsPtr periods, error_code error, int failures,
                                        CancellationPtr cancellation, OperationOptions limits) {
  const RetryPolicy policy = limits.retry.value_or(periods->client.retry_policy());
  const auto wait = pause_before(policy, failures, std::chrono::milliseconds{0});
  if (!wait || limits.deadline.passed()) co_return error;
  co_await pause_for(periods->client, *wait, limits.deadline, cancellation);
  if (cancellation && cancellation->requested()) co_return asio::error::operation_aborted;
  co_return error_code{};
}

asio::awaitable<Result<RecordSight>> read_record(PeriodsPtr periods, CancellationPtr cancellation,
                                                 OperationOptions limits) {
  const CorePtr core = periods->client.core();
  const std::string record = periods->record;
  auto [error, found] = co_await await<&start_get, GetResult>(core, cancellation, record, limits);
  if (error == ServerErrc::no_node) co_return RecordSight{};
  if (error) co_return error;
  Result<PeriodRun> last = decode_run(found.data);
  if (!last) {
    periods->client.log(LogLevel::error,
                        record + " is no record of a job that this version can read");
    co_return last.error();
  }
  if (last->state == RunState::running) {
    const std::string node = join(periods->lock.path(), last->node);
    const auto [unknown, stat] =
        co_await await<&start_exists, std::optional<Stat>>(core, cancellation, node, limits);
    if (unknown) co_return unknown;
    if (!stat) last->state = RunState::broken_off;
  }
  co_return RecordSight{.last = std::move(*last), .version = found.stat.version};
}

asio::awaitable<Result<RecordSight>> look(PeriodsPtr periods, CancellationPtr cancellation,
                                          OperationOptions limits) {
  const Client& client = periods->client;
  for (int failures = 0;; ++failures) {
    const Result<std::int64_t> session = co_await present_session(client, cancellation, limits);
    if (!session) co_return session.error();
    const UpsertOptions options{.parents = Parents::created_as_containers,
                                .deadline = limits.deadline,
                                .retry = limits.retry};
    std::string who = periods->identity;
    const CorePtr core = client.core();
    const std::string clock = periods->clock;
    const auto [error, written] =
        co_await await<&start_upsert, Upserted>(core, cancellation, clock, std::move(who), options);
    // A lost reply does not matter: a second write does no harm, even if the first one was applied.
    if (error && !is_doubtful(error)) co_return error;
    if (!error) {
      Result<RecordSight> seen = co_await read_record(periods, cancellation, limits);
      if (!seen) co_return seen;
      // Within one session a server shows nothing older than its earlier answers.
      if (client.session().id == *session) {
        seen->now = std::chrono::floor<std::chrono::milliseconds>(written.stat.modified);
        co_return seen;
      }
    }
    const error_code unpaused =
        co_await pause_after(periods, error ? error : make_error_code(Errc::session_lost), failures,
                             cancellation, limits);
    if (unpaused) co_return unpaused;
  }
}

}  // namespace custodian::recipes_detail
