#include "atomics/write_needs.hpp"

#include <utility>

#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

asio::awaitable<error_code> acquire_lock(UpdatePtr update) {
  const LockSpecPtr spec = update->batch->node->lock;
  const WaitLimit limit{.deadline = update->limits.deadline};
  AcquireOptions as_usual;
  auto [error, result] = co_await await<&start_acquire, AcquireResult>(
      update->core, update->cancellation, spec, limit, as_usual);
  if (error) co_return error;
  if (!result.lease) co_return Errc::deadline_exceeded;
  update->lock = std::move(result.lease);
  update->done.promoted = true;
  co_return error_code{};
}

/// The error of a create or read before the write. Whether that request was applied does not matter
/// to the value, so the error must not say that the outcome is unknown.
error_code without_doubt(const error_code& error) {
  if (error == Errc::deadline_exceeded_outcome_unknown) return Errc::deadline_exceeded;
  if (error == ErrorCondition::outcome_unknown) return Errc::not_connected;
  return error;
}

asio::awaitable<error_code> create_witness(UpdatePtr update) {
  const OperationOptions options = update->limits;
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
        update->core, update->cancellation, path, identity, std::move(below_the_value));
    if (!error) {
      update->line->witness =
          OwnedNode{update->core, std::move(created), ForbiddenDelete::is_logged};
      co_return error_code{};
    }
    if (error != ServerErrc::no_node) co_return without_doubt(error);
    const error_code missing =
        co_await create_with_seed(update->batch->node->value, update->cancellation, options);
    if (missing) co_return missing;
  }
}

/// Arms the watch on the node. If the servers do not permit it, the updates go on, with a read
/// each.
asio::awaitable<error_code> watch_node(UpdatePtr update) {
  const std::string path = update->node.path;
  NodeWatch& armed = update->line->watch;
  armed.watch = {};
  update->line->copy.reset();
  armed.connection = detail::connection_number(*update->core);
  auto [error, children, watch] = co_await await<&start_children_and_watch, Children, Watch>(
      update->core, update->cancellation, path, update->limits);
  armed.watch = std::move(watch);
  armed.is_forbidden = error == ServerErrc::no_auth;
  // If the node is missing, the read that follows creates it.
  const bool goes_on = !error || armed.is_forbidden || error == ServerErrc::no_node;
  co_return goes_on ? error_code{} : without_doubt(error);
}

void take_copy(Update& update) {
  update.found = std::exchange(update.line->copy, std::nullopt);
  update.is_fresh = false;
  update.is_copy = update.found.has_value();
}

}  // namespace

asio::awaitable<error_code> read_value(UpdatePtr update) {
  Result<Watched<GetResult>> read_now =
      co_await read(update->batch->node->value, update->cancellation, update->limits, Watching::no);
  if (!read_now) co_return read_now.error();
  const Stat& stat = read_now->value.stat;
  update->found =
      Stored{{std::move(read_now->value.data), stat.version, stat.mzxid}, stat.modified};
  update->is_fresh = true;
  update->is_copy = false;
  co_return error_code{};
}

asio::awaitable<error_code> get_ready(UpdatePtr update) {
  if (update->wants_lock()) {
    const error_code error = co_await acquire_lock(update);
    if (error) co_return error;
  }
  // A copy is only good while its witness exists, which proves that the node is the same.
  if (update->settles() && !update->line->witness.alive()) {
    const error_code error = co_await create_witness(update);
    if (error) co_return error;
  }
  if (!update->found && update->is_same_node()) take_copy(*update);
  if (update->found) co_return error_code{};
  // The first update arms no watch: a client that updates only once would not use it.
  const bool watches = !update->settles() && update->line->has_updated &&
                       !update->line->watch.is_forbidden && !update->is_same_node();
  if (watches) {
    const error_code error = co_await watch_node(update);
    if (error) co_return error;
  }
  co_return co_await read_value(update);
}

}  // namespace custodian::recipes_detail
