#include "atomics/initialize.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "async/backoff.hpp"
#include "async/present_session.hpp"
#include "atomics/elapsed.hpp"
#include "atomics/update_step.hpp"
#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"

// With a witness, one transaction creates the node and the witness below it. If its reply is lost,
// the same transaction is sent again. If the node exists by then, this call has created the node
// exactly if the witness exists.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

asio::awaitable<error_code> create_parents(AtomicNodePtr node, CancellationPtr cancellation,
                                           OperationOptions options) {
  CreateOptions as_container{.mode = CreateMode::container,
                             .parents = Parents::created_as_containers,
                             .deadline = options.deadline,
                             .retry = options.retry};
  const CorePtr core = node->value->client.core();
  const std::string parent{parent_of(node->value->path)};
  const std::string nothing;
  auto [error, created] = co_await await<&start_create, Created>(core, cancellation, parent,
                                                                 nothing, std::move(as_container));
  // The create of the parents does not touch the value, so the outcome for the value is known.
  if (error == Errc::deadline_exceeded_outcome_unknown) co_return Errc::deadline_exceeded;
  // If the reply is lost, the next try shows whether the create was applied.
  const bool is_there = error == ServerErrc::node_exists || error == ServerErrc::connection_loss;
  co_return is_there ? error_code{} : error;
}

asio::awaitable<Result<bool>> create_plainly(AtomicNodePtr node, CancellationPtr cancellation,
                                             std::string first, OperationOptions options) {
  const CorePtr core = node->value->client.core();
  const std::string path = node->value->path;
  CreateOptions as_planned{.parents = Parents::created_as_containers,
                           .deadline = options.deadline,
                           .retry = options.retry};
  const auto [error, created] = co_await await<&start_create, Created>(
      core, cancellation, path, std::move(first), std::move(as_planned));
  if (error == ServerErrc::node_exists) co_return false;
  if (error) co_return failed<bool>(error);
  co_return true;
}

OwnedNode witness_node(const Client& client, const std::string& path, const Stat& stat) {
  return {client.core(), Created{path, stat}, ForbiddenDelete::is_logged};
}

/// Keeps the new witness, and drops the copy: the witness proves nothing of the time before it.
void adopt(ValueLine& line, OwnedNode witness) {
  line.witness = std::move(witness);
  line.copy.reset();
}

/// Asks the witness whether an earlier try has created the node, which exists.
asio::awaitable<Result<bool>> ask_witness(AtomicNodePtr node, CancellationPtr cancellation,
                                          std::string witness, std::int64_t session,
                                          OperationOptions options) {
  const Client& client = node->value->client;
  const auto [error, stat] = co_await await<&start_exists, std::optional<Stat>>(
      client.core(), cancellation, witness, options);
  if (error) co_return failed<bool>(end_error(error, Doubt::applied_perhaps));
  if (stat) {
    adopt(*node->line, witness_node(client, witness, *stat));
    co_return true;
  }
  // A witness ends with its session, so in another session its absence proves nothing.
  if (client.session().id != session) co_return failed<bool>(ServerErrc::connection_loss);
  co_return false;
}

using Time = std::chrono::steady_clock::time_point;

asio::awaitable<Result<bool>> create_with_witness(AtomicNodePtr node, CancellationPtr cancellation,
                                                  std::string first, OperationOptions options,
                                                  Time called) {
  const Client& client = node->value->client;
  const std::string path = node->value->path;
  const std::string witness = join(path, "_c_" + make_uuid() + "-witness");
  const Result<std::int64_t> session = co_await present_session(client, cancellation, options);
  if (!session) co_return failed<bool>(session.error());
  const auto began = std::chrono::steady_clock::now();
  // Has the client delete the witness, if a doubtful try creates it.
  const auto disown = [&] {
    detail::remember_doubtful(*client.core(), witness, detail::NodeOf::nobody, began);
  };
  Doubt doubt = Doubt::none;
  for (int repetitions = 0;; ++repetitions) {
    // The set changes nothing: it is there because only the result of a set has the witness's Stat.
    Transaction both{create(path, first), create(witness, client.identity(), CreateMode::ephemeral),
                     set(witness, client.identity())};
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        client.core(), cancellation, std::move(both), options);
    if (!error) {
      adopt(*node->line, witness_node(client, witness, results.back().stat));
      co_return true;
    }
    if (error == ServerErrc::node_exists) {
      if (doubt == Doubt::none) co_return false;
      const Result<bool> told =
          co_await ask_witness(node, cancellation, witness, *session, options);
      // Not `co_return told;`: Result<bool> can also be made of anything that converts to bool.
      if (told) co_return *told;
      disown();
      co_return failed<bool>(told.error());
    }
    if (error == ServerErrc::no_node) {
      const error_code missing = co_await create_parents(node, cancellation, options);
      if (!missing) continue;
      if (doubt == Doubt::applied_perhaps) disown();
      co_return failed<bool>(end_error(missing, doubt));
    }
    const Step step = after_try({error}, doubt, Settle::exactly_once);
    if (error == ErrorCondition::outcome_unknown) doubt = Doubt::applied_perhaps;
    const RetryPolicy policy = options.retry.value_or(client.retry_policy());
    const auto pause =
        policy.pause_before({.retries_so_far = repetitions, .elapsed = elapsed_since(called)});
    if (step != Step::repeat || !pause) {
      if (doubt == Doubt::applied_perhaps || error == asio::error::operation_aborted) disown();
      co_return failed<bool>(end_error(error, doubt));
    }
    co_await back_off(client, repetitions, options.deadline, cancellation);
  }
}

}  // namespace

asio::awaitable<Result<bool>> initialize(AtomicNodePtr node, CancellationPtr cancellation,
                                         std::string first, OperationOptions options) {
  if (node->options.settle == Settle::left_to_caller) {
    co_return co_await create_plainly(node, cancellation, std::move(first), options);
  }
  const Time called = std::chrono::steady_clock::now();
  const ValueLinePtr line = line_of(*node);
  ValueLine::Place place{*line};
  const asio::any_io_executor strand = node->value->client.get_executor();
  const error_code late = co_await place.wait_for_turn(strand, options.deadline, cancellation);
  if (late) co_return failed<bool>(late);
  co_return co_await create_with_witness(node, cancellation, std::move(first), options, called);
}

}  // namespace custodian::recipes_detail
