/// \file
/// start_upsert() writes a node, or creates it. It sends the write first, and the create only if
/// there is no node.
///
/// A write whose reply was lost is not repeated, since the repetition could overwrite what other
/// clients have written since. A create is repeated, since only one of two creates is applied. If
/// the repetition finds a node, the node counts as this operation's if it has the data and was
/// never written.

#include <optional>
#include <utility>

#include "client/client_core.hpp"
#include "client/operation.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

struct Upsert {
  CorePtr core;
  CancellationPtr cancellation;
  std::string path;
  std::string data;
  CreateOptions create;
  Plan plan;

  [[nodiscard]] std::optional<std::chrono::milliseconds> pause_after(int retries) const {
    const auto elapsed =
        std::chrono::floor<std::chrono::milliseconds>(Deadline::Clock::now() - began);
    return plan.retry.pause_before({retries, elapsed, core->random()});
  }

  const Deadline::Clock::time_point began = Deadline::Clock::now();
};

using UpsertPtr = std::shared_ptr<const Upsert>;

/// Whether this node counts as made by a create whose reply was lost.
bool is_as_created(const GetResult& found, std::string_view data) {
  return found.stat.version == 0 && found.data == data;
}

/// Looks at a node that exists after a create was lost.
asio::awaitable<Result<Stat>> find_created(UpsertPtr job) {
  const OperationOptions options{job->plan.deadline, job->plan.retry};
  auto [error, found] =
      co_await await<&start_get, GetResult>(job->core, job->cancellation, job->path, options);
  if (error == Errc::deadline_exceeded) co_return Errc::deadline_exceeded_outcome_unknown;
  if (error == asio::error::operation_aborted || error == ErrorCondition::session_over) {
    co_return error;
  }
  if (error || !is_as_created(found, job->data)) co_return ServerErrc::connection_loss;
  co_return found.stat;
}

asio::awaitable<Result<Stat>> create(UpsertPtr job) {
  for (int lost = 0;; ++lost) {
    CreateOptions options = job->create;
    std::string data = job->data;
    auto [error, created] = co_await await<&start_create, Created>(
        job->core, job->cancellation, job->path, std::move(data), std::move(options));
    if (!error) co_return created.stat;
    if (error == ServerErrc::node_exists && lost > 0) co_return co_await find_created(job);
    const bool has_given_up = error == Errc::deadline_exceeded_outcome_unknown;
    if (error != ErrorCondition::outcome_unknown || has_given_up) co_return error;
    const auto wait = job->pause_after(lost);
    if (!wait) co_return error;
    if (Observation* const observation = job->core->observation()) {
      observation->tell_retried("create", job->core->prefix().add(job->path), error, lost + 1,
                                *wait);
    }
    co_await pause(job->core, *wait, job->plan.deadline, job->cancellation);
  }
}

asio::awaitable<Result<Upserted>> upsert(UpsertPtr job) {
  for (;;) {
    const SetOptions options{any_version, job->plan.deadline, job->plan.retry};
    std::string data = job->data;
    auto [error, written] = co_await await<&start_set, Stat>(job->core, job->cancellation,
                                                             job->path, std::move(data), options);
    if (!error) co_return Upserted{written, false};
    if (error != ServerErrc::no_node) co_return error;
    const Result<Stat> created = co_await create(job);
    if (created) co_return Upserted{*created, true};
    // Another process was faster. Its node is written, unless it is gone again.
    if (created.error() != ServerErrc::node_exists) co_return created.error();
  }
}

CreateOptions create_options_of(const UpsertOptions& options) {
  return {.mode = options.mode,
          .parents = options.parents,
          .acl = options.acl,
          .ttl = options.ttl,
          .deadline = options.deadline,
          .retry = options.retry};
}

}  // namespace

}  // namespace custodian::detail

namespace custodian {

// The operation is public, in namespace custodian; its helpers are in custodian::detail.
using namespace detail;

void start_upsert(CorePtr core, CancellationPtr cancellation, std::string path, std::string data,
                  UpsertOptions options, Handler<Upserted> handler) {
  const Plan plan =
      make_plan(*core, options.deadline, options.retry, Repeat::unless_outcome_unknown);
  options.deadline = plan.deadline;
  std::string what = "an upsert of " + path;
  UpsertPtr job = std::make_shared<Upsert>(Upsert{.core = core,
                                                  .cancellation = std::move(cancellation),
                                                  .path = std::move(path),
                                                  .data = std::move(data),
                                                  .create = create_options_of(options),
                                                  .plan = plan});
  spawn(core, what, upsert(std::move(job)), std::move(handler));
}

}  // namespace custodian
