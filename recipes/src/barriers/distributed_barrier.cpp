#include "custodian/barriers/distributed_barrier.hpp"

#include <utility>

#include "acquire/not_acquired.hpp"
#include "async/observed_wait.hpp"
#include "barriers/barrier_sight.hpp"
#include "barriers/fresh_look.hpp"
#include "barriers/timed_wait.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

/// Immutable.
struct Barrier {
  Client client;
  std::string path;
};

namespace {

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

asio::awaitable<Result<void>> set(BarrierPtr barrier, CancellationPtr cancellation,
                                  OperationOptions options) {
  CreateOptions as_planned{.parents = Parents::created_as_containers,
                           .deadline = barrier->client.deadline_or_default(options.deadline),
                           .retry = options.retry};
  const CorePtr core = barrier->client.core();
  std::string identity = barrier->client.identity();
  const auto [error, created] = co_await await<&start_create, Created>(
      core, std::move(cancellation), barrier->path, std::move(identity), std::move(as_planned));
  if (error && error != ServerErrc::node_exists) co_return error;
  co_return Result<void>{};
}

asio::awaitable<Result<bool>> is_set(BarrierPtr barrier, CancellationPtr cancellation,
                                     OperationOptions options) {
  options.deadline = barrier->client.deadline_or_default(options.deadline);
  FreshLook look{barrier->client, barrier->path, std::move(cancellation), options};
  const Result<Watched<std::optional<Stat>>> seen = co_await look.take(Watching::no);
  if (!seen) co_return failed<bool>(seen.error());
  co_return seen->value.has_value();
}

asio::awaitable<Result<void>> wait(BarrierPtr barrier, CancellationPtr cancellation) {
  const CorePtr core = barrier->client.core();
  const OperationOptions patient{Deadline::never(), barrier->client.retry_policy().unlimited()};
  FreshLook look{barrier->client, barrier->path, cancellation, patient};
  std::int64_t first_seen = 0;
  for (;;) {
    const Result<Watched<std::optional<Stat>>> seen = co_await look.take(Watching::yes);
    if (!seen) co_return seen.error();
    const BarrierSight sight = sight_of(first_seen, seen->value);
    if (sight == BarrierSight::open) co_return Result<void>{};
    if (first_seen == 0) first_seen = seen->value->czxid;
    const auto [error, event] =
        co_await await<&start_wait, WatchEventType>(core, cancellation, seen->watch.state());
    if (error && error != Errc::session_lost) co_return error;
    if (!error && opens(sight, event)) co_return Result<void>{};
  }
}

/// A wait whose deadline has passed already asks the servers once.
asio::awaitable<Result<bool>> is_open_now(BarrierPtr barrier, CancellationPtr cancellation) {
  const OperationOptions once{{}, RetryPolicy::none()};
  const Result<bool> is_closed = co_await is_set(barrier, std::move(cancellation), once);
  if (is_closed) co_return !*is_closed;
  if (is_lack_of_answer(is_closed.error())) co_return false;
  co_return failed<bool>(is_closed.error());
}

}  // namespace

void start_set_barrier(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                       OperationOptions options, Handler<> handler) {
  const std::string what = "setting " + barrier->path;
  spawn(core, what, set(std::move(barrier), std::move(cancellation), options), std::move(handler));
}

void start_remove_barrier(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                          OperationOptions options, Handler<> handler) {
  const RemoveOptions as_planned{
      .missing = Missing::is_fine, .deadline = options.deadline, .retry = options.retry};
  start_remove(std::move(core), std::move(cancellation), barrier->path, as_planned,
               std::move(handler));
}

void start_is_set(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                  OperationOptions options, Handler<bool> handler) {
  const std::string what = "looking at " + barrier->path;
  spawn(core, what, is_set(std::move(barrier), std::move(cancellation), options),
        std::move(handler));
}

void start_wait_at_barrier(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                           Handler<> handler) {
  Handler<> observed = observed_wait(core, "DistributedBarrier", barrier->path, std::move(handler));
  Handler<> bound = bound_to_context(core, std::move(observed));
  const std::string what = "waiting at " + barrier->path;
  spawn(core, what, wait(std::move(barrier), std::move(cancellation)), std::move(bound));
}

void start_timed_wait_at_barrier(CorePtr core, CancellationPtr cancellation, BarrierPtr barrier,
                                 Deadline until, Handler<bool> handler) {
  Handler<bool> observed =
      observed_wait(core, "DistributedBarrier", barrier->path, std::move(handler));
  Handler<bool> bound = bound_to_context(core, std::move(observed));
  const std::string what = "waiting at " + barrier->path;
  if (until.passed()) {
    return spawn(core, what, is_open_now(std::move(barrier), std::move(cancellation)),
                 std::move(bound));
  }
  const auto work = [barrier = std::move(barrier)](const CancellationPtr& limited) {
    return wait(barrier, limited);
  };
  spawn(core, what, in_time(core, std::move(cancellation), until, work), std::move(bound));
}

}  // namespace recipes_detail

using recipes_detail::Barrier;

DistributedBarrier::DistributedBarrier(const Client& client, std::string path)
    : core_{client.core()} {
  check_path(core_, "DistributedBarrier", path);
  check_create(core_, path, client.identity(), {});
  barrier_ = std::make_shared<Barrier>(Barrier{client.share(), std::move(path)});
}

const std::string& DistributedBarrier::path() const noexcept { return barrier_->path; }

void DistributedBarrier::set(OperationOptions options) {
  block_in_time_or_throw<&recipes_detail::start_set_barrier>(
      core_, "DistributedBarrier::set", path(), {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, barrier_, options);
}

void DistributedBarrier::remove(OperationOptions options) {
  block_in_time_or_throw<&recipes_detail::start_remove_barrier>(
      core_, "DistributedBarrier::remove", path(), {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, barrier_, options);
}

bool DistributedBarrier::is_set(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_is_set, bool>(
      core_, "DistributedBarrier::is_set", path(), {}, {options.deadline}, barrier_, options);
}

void DistributedBarrier::wait(std::stop_token stop) const {
  block_or_throw<&recipes_detail::start_wait_at_barrier>(core_, "DistributedBarrier::wait", path(),
                                                         std::move(stop), barrier_);
}

bool DistributedBarrier::wait_until(Deadline until, std::stop_token stop) const {
  return recipes_detail::block_in_time_for<&recipes_detail::start_timed_wait_at_barrier>(
      barrier_->client, {"DistributedBarrier::wait", path()}, std::move(stop), until, barrier_);
}

}  // namespace custodian
