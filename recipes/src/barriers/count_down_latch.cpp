#include "custodian/barriers/count_down_latch.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "acquire/not_acquired.hpp"
#include "async/observed_wait.hpp"
#include "barriers/latch_arrival.hpp"
#include "barriers/latch_tickets.hpp"
#include "barriers/timed_wait.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

namespace {

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

// -- Waiting --------------------------------------------------------------------------------------

/// Waits until the last ticket exists. Watches only that node, while it is missing.
asio::awaitable<Result<void>> until_open(CountDownPtr latch, CancellationPtr cancellation) {
  const CorePtr core = latch->client.core();
  const std::string last = latch->last_ticket();
  const OperationOptions patient = latch->patient();
  for (;;) {
    const Result<Watched<std::optional<Stat>>> seen =
        co_await read_existence(core, cancellation, last, patient, Watching::yes);
    if (!seen) co_return seen.error();
    if (seen->value) co_return Result<void>{};
    const auto [error, event] =
        co_await await<&start_wait, WatchEventType>(core, cancellation, seen->watch.state());
    if (!error && event == WatchEventType::created) co_return Result<void>{};
    if (error && error != Errc::session_lost) co_return error;
  }
}

asio::awaitable<Result<void>> wait(CountDownPtr latch, CancellationPtr cancellation) {
  const OperationOptions patient = latch->patient();
  const Result<Stat> joined = co_await join_in(latch, cancellation, patient);
  if (!joined) co_return joined.error();
  if (latch->expected == 0) co_return Result<void>{};
  co_return co_await until_open(latch, cancellation);
}

asio::awaitable<Result<void>> arrive_and_wait(CountDownPtr latch, CancellationPtr cancellation,
                                              std::int32_t arrivals) {
  const OperationOptions patient = latch->patient();
  const Result<void> arrived = co_await count_down(latch, cancellation, arrivals, patient);
  if (!arrived) co_return arrived.error();
  if (latch->expected == 0) co_return Result<void>{};
  co_return co_await until_open(latch, cancellation);
}

asio::awaitable<Result<bool>> try_wait(CountDownPtr latch, CancellationPtr cancellation,
                                       OperationOptions options) {
  if (latch->expected == 0) co_return true;
  const CorePtr core = latch->client.core();
  const std::string last = latch->last_ticket();
  const Result<Watched<std::optional<Stat>>> seen =
      co_await read_existence(core, std::move(cancellation), last, options, Watching::no);
  if (!seen) co_return failed<bool>(seen.error());
  co_return seen->value.has_value();
}

/// A wait whose deadline has passed already asks the servers once.
asio::awaitable<Result<bool>> is_open_now(CountDownPtr latch, CancellationPtr cancellation) {
  const OperationOptions once{{}, RetryPolicy::none()};
  const Result<bool> is_open = co_await try_wait(latch, std::move(cancellation), once);
  if (is_open) co_return *is_open;
  if (is_lack_of_answer(is_open.error())) co_return false;
  co_return failed<bool>(is_open.error());
}

asio::awaitable<Result<std::int32_t>> count(CountDownPtr latch, CancellationPtr cancellation,
                                            OperationOptions options) {
  Result<std::int32_t> arrivals = co_await count_tickets(latch, std::move(cancellation), options);
  if (!arrivals && arrivals.error() != ServerErrc::no_node) co_return arrivals;
  const std::int32_t before = arrivals.has_value() ? *arrivals : 0;
  co_return next_tickets(latch->expected, before, latch->expected).count;
}

/// One deadline for all the requests of an operation.
OperationOptions with_deadline(const CountDown& latch, OperationOptions options) {
  options.deadline = latch.client.deadline_or_default(options.deadline);
  return options;
}

}  // namespace

// -- From start to end ----------------------------------------------------------------------------

void check_arrivals(const CountDownPtr& latch, std::int32_t arrivals) {
  if (arrivals >= 0) return;
  throw Error{Errc::invalid_argument, "CountDownLatch::count_down", latch->path,
              "a negative number of arrivals"};
}

void start_count_down(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                      std::int32_t arrivals, OperationOptions options, Handler<> handler) {
  const OperationOptions as_planned = with_deadline(*latch, options);
  const std::string what = "arriving at " + latch->path;
  spawn(core, what, count_down(std::move(latch), std::move(cancellation), arrivals, as_planned),
        std::move(handler));
}

void start_arrive_and_wait(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                           std::int32_t arrivals, Handler<> handler) {
  Handler<> observed = observed_wait(core, "CountDownLatch", latch->path, std::move(handler));
  Handler<> bound = bound_to_context(core, std::move(observed));
  const std::string what = "arriving at " + latch->path;
  spawn(core, what, arrive_and_wait(std::move(latch), std::move(cancellation), arrivals),
        std::move(bound));
}

void start_count(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                 OperationOptions options, Handler<std::int32_t> handler) {
  const OperationOptions as_planned = with_deadline(*latch, options);
  const std::string what = "counting at " + latch->path;
  spawn(core, what, count(std::move(latch), std::move(cancellation), as_planned),
        std::move(handler));
}

void start_try_wait(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                    OperationOptions options, Handler<bool> handler) {
  const OperationOptions as_planned = with_deadline(*latch, options);
  const std::string what = "looking at " + latch->path;
  spawn(core, what, try_wait(std::move(latch), std::move(cancellation), as_planned),
        std::move(handler));
}

void start_wait_at_latch(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                         Handler<> handler) {
  Handler<> observed = observed_wait(core, "CountDownLatch", latch->path, std::move(handler));
  Handler<> bound = bound_to_context(core, std::move(observed));
  const std::string what = "waiting at " + latch->path;
  spawn(core, what, wait(std::move(latch), std::move(cancellation)), std::move(bound));
}

void start_timed_wait_at_latch(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                               Deadline until, Handler<bool> handler) {
  Handler<bool> observed = observed_wait(core, "CountDownLatch", latch->path, std::move(handler));
  Handler<bool> bound = bound_to_context(core, std::move(observed));
  const std::string what = "waiting at " + latch->path;
  if (until.passed()) {
    return spawn(core, what, is_open_now(std::move(latch), std::move(cancellation)),
                 std::move(bound));
  }
  const auto work = [latch = std::move(latch)](const CancellationPtr& limited) {
    return wait(latch, limited);
  };
  spawn(core, what, in_time(core, std::move(cancellation), until, work), std::move(bound));
}

void start_remove_latch(CorePtr core, CancellationPtr cancellation, CountDownPtr latch,
                        OperationOptions options, Handler<> handler) {
  const RemoveOptions whole{.missing = Missing::is_fine,
                            .descendants = Descendants::are_removed,
                            .deadline = with_deadline(*latch, options).deadline,
                            .retry = options.retry};
  start_remove(std::move(core), std::move(cancellation), latch->path, whole, std::move(handler));
}

}  // namespace recipes_detail

using recipes_detail::CountDown;

namespace {

constexpr std::string_view another_number =
    "the latch's node says that another number of arrivals opens it: all its clients must expect "
    "the same, and each round needs a path of its own";

}  // namespace

CountDownLatch::CountDownLatch(const Client& client, std::string path, std::int32_t expected)
    : core_{client.core()} {
  constexpr auto name = "CountDownLatch";
  check_path(core_, name, path);
  if (expected < 0 || expected > max()) {
    throw Error{Errc::invalid_argument, name, path,
                "a latch expects 0 to " + std::to_string(max()) + " arrivals"};
  }
  check_create(core_, path, recipes_detail::latch_data(expected), {});
  check_create(core_, join(path, recipes_detail::ticket_name(0)), make_uuid(), {});
  latch_ = std::make_shared<CountDown>(CountDown{client.share(), std::move(path), expected});
}

const std::string& CountDownLatch::path() const noexcept { return latch_->path; }

std::int32_t CountDownLatch::expected() const noexcept { return latch_->expected; }

void CountDownLatch::count_down(std::int32_t arrivals, OperationOptions options) {
  recipes_detail::check_arrivals(latch_, arrivals);
  const recipes_detail::BlockingCall call{"CountDownLatch::count_down", path(), another_number};
  const auto [error] = block_in_time<&recipes_detail::start_count_down>(
      core_, call.operation, call.path, {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, latch_, arrivals, options);
  recipes_detail::throw_error_of(core_, error, call);
}

void CountDownLatch::arrive_and_wait(std::int32_t arrivals, std::stop_token stop) {
  recipes_detail::check_arrivals(latch_, arrivals);
  recipes_detail::block_for_good<&recipes_detail::start_arrive_and_wait>(
      core_, {"CountDownLatch::arrive_and_wait", path(), another_number}, std::move(stop), latch_,
      arrivals);
}

void CountDownLatch::wait(std::stop_token stop) const {
  recipes_detail::block_for_good<&recipes_detail::start_wait_at_latch>(
      core_, {"CountDownLatch::wait", path(), another_number}, std::move(stop), latch_);
}

bool CountDownLatch::wait_until(Deadline until, std::stop_token stop) const {
  return recipes_detail::block_in_time_for<&recipes_detail::start_timed_wait_at_latch>(
      latch_->client, {"CountDownLatch::wait", path(), another_number}, std::move(stop), until,
      latch_);
}

bool CountDownLatch::try_wait(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_try_wait, bool>(
      core_, "CountDownLatch::try_wait", path(), {}, {options.deadline}, latch_, options);
}

std::int32_t CountDownLatch::count(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_count, std::int32_t>(
      core_, "CountDownLatch::count", path(), {}, {options.deadline}, latch_, options);
}

void CountDownLatch::remove(OperationOptions options) {
  block_in_time_or_throw<&recipes_detail::start_remove_latch>(
      core_, "CountDownLatch::remove", path(), {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, latch_, options);
}

}  // namespace custodian
