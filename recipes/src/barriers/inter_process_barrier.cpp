#include "custodian/barriers/inter_process_barrier.hpp"

#include <limits>
#include <string>
#include <utility>

#include "async/observed_wait.hpp"
#include "barriers/phase_arrival.hpp"
#include "barriers/phase_rules.hpp"
#include "barriers/timed_wait.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

namespace {

asio::awaitable<Result<bool>> arrive_in_time(PhasesPtr phases, CancellationPtr callers,
                                             Deadline until) {
  const auto arrival = std::make_shared<PhaseArrival>(phases);
  const auto work = [arrival](const CancellationPtr& limited) {
    return until_passed(arrival, limited);
  };
  const auto take = [arrival](const OperationOptions& options) {
    return take_back(arrival, options);
  };
  return unless_taken_back(phases->client.share(), std::move(callers), until, work, take);
}

asio::awaitable<Result<void>> arrive(PhasesPtr phases, CancellationPtr callers) {
  const Deadline never = Deadline::never();
  const Result<bool> passed = co_await arrive_in_time(std::move(phases), std::move(callers), never);
  if (!passed) co_return passed.error();
  co_return Result<void>{};
}

}  // namespace

void start_arrive_and_wait_at_barrier(CorePtr core, CancellationPtr cancellation, PhasesPtr phases,
                                      Handler<> handler) {
  Handler<> observed = observed_wait(core, "InterProcessBarrier", phases->path, std::move(handler));
  Handler<> bound = bound_to_context(core, std::move(observed));
  const std::string what = "arriving at " + phases->path;
  spawn(core, what, arrive(std::move(phases), std::move(cancellation)), std::move(bound));
}

void start_timed_arrival_at_barrier(CorePtr core, CancellationPtr cancellation, PhasesPtr phases,
                                    Deadline until, Handler<bool> handler) {
  Handler<bool> observed =
      observed_wait(core, "InterProcessBarrier", phases->path, std::move(handler));
  Handler<bool> bound = bound_to_context(core, std::move(observed));
  const std::string what = "arriving at " + phases->path;
  spawn(core, what, arrive_in_time(std::move(phases), std::move(cancellation), until),
        std::move(bound));
}

}  // namespace recipes_detail

InterProcessBarrier::InterProcessBarrier(const Client& client, std::string path,
                                         std::int32_t expected)
    : core_{client.core()} {
  constexpr auto name = "InterProcessBarrier";
  constexpr std::int32_t last_phase = std::numeric_limits<std::int32_t>::max();
  const std::string longest = recipes_detail::arrival_name(last_phase);
  check_path(core_, name, path);
  check_create(core_, path, {}, {});
  check_contender(core_, name, path, longest, client.identity());
  if (expected < 1 || expected > max()) {
    throw Error{Errc::invalid_argument, name, path,
                "a phase has 1 to " + std::to_string(max()) + " arrivals"};
  }
  try {
    check_commit(core_, recipes_detail::longest_ending(path, expected));
  } catch (const Error& error) {
    throw Error{error.code(), name, path,
                "the transaction of a phase with " + std::to_string(expected) +
                    " arrivals would be too large for the servers: expect fewer, take a shorter "
                    "path, or raise their jute.maxbuffer and ClientOptions::max_request_size"};
  }
  phases_ = std::make_shared<recipes_detail::Phases>(
      recipes_detail::Phases{client.share(), std::move(path), expected});
}

const std::string& InterProcessBarrier::path() const noexcept { return phases_->path; }

std::int32_t InterProcessBarrier::expected() const noexcept { return phases_->expected; }

void InterProcessBarrier::arrive_and_wait(std::stop_token stop) {
  block_or_throw<&recipes_detail::start_arrive_and_wait_at_barrier>(
      core_, "InterProcessBarrier::arrive_and_wait", path(), std::move(stop), phases_);
}

bool InterProcessBarrier::arrive_and_wait_until(Deadline until, std::stop_token stop) {
  return recipes_detail::block_unless_taken_back<&recipes_detail::start_timed_arrival_at_barrier>(
      phases_->client, {"InterProcessBarrier::arrive_and_wait", path()}, std::move(stop), until,
      phases_);
}

}  // namespace custodian
