#include "conditions/signalling.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"

// To give a signal, one transaction creates the signal's node and writes to the waiter's node. The
// guards, as docs/model/condition.pml names them:
//
// - OWN_SIGNAL: the signal's node bears an id. After a lost reply only the id proves that the
//   signal was given: a waiter's signal may have been passed on from another waiter, and a waiter
//   that has gone may have died before it was signalled.
// - ONE_TRANSACTION: a signal moves from a waiter that has gone to the next one at once, so that it
//   is never given twice, and never lost.
// - LOOK_AGAIN: one event may stand for several waiters that have gone, so the line is listed again
//   after each signal that was passed on.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// A signal takes some 300 bytes, and twice the path's length. So a transaction of 50 signals is
/// well below the size that servers accept.
constexpr std::size_t most_at_once = 50;

/// Whether another client was quicker, so that the line must be listed again.
bool line_has_moved(const error_code& error) {
  return error == ServerErrc::no_node || error == ServerErrc::node_exists;
}

bool leaves_doubt(const error_code& error) { return error == ErrorCondition::outcome_unknown; }

void add_signal(Transaction& transaction, const std::string& folder, std::string_view waiter,
                const std::string& id) {
  transaction.push_back(set(join(folder, waiter), std::string{signalled_data}));
  transaction.push_back(create(join(folder, signal_to(waiter)), id));
}

/// Counts, after a lost reply, how many of the signals to `asked` were given. Syncs first, so that
/// the server has caught up.
asio::awaitable<Result<std::size_t>> count_given(ConditionSpecPtr condition,
                                                 CancellationPtr cancellation,
                                                 std::vector<std::string> asked, std::string id,
                                                 OperationOptions options) {
  const auto core = condition->client.core();
  const auto [unsynced] = co_await await<&start_sync>(core, cancellation, condition->path, options);
  if (unsynced) co_return failed<std::size_t>(unsynced);
  // One transaction gave all of them or none, so the first one shows it.
  const std::string first = join(condition->path, signal_to(asked.front()));
  const auto [error, found] =
      co_await await<&start_get, GetResult>(core, cancellation, first, options);
  if (error && error != ServerErrc::no_node) co_return failed<std::size_t>(error);
  co_return !error && found.data == id ? asked.size() : std::size_t{0};
}

}  // namespace

asio::awaitable<Result<ConditionLine>> list_line(ConditionSpecPtr condition,
                                                 CancellationPtr cancellation,
                                                 OperationOptions options) {
  const Result<Watched<Children>> seen = co_await read_children(
      condition->client.core(), cancellation, condition->path, options, Watching::no);
  // The waiters' folder is a container, which the servers delete after the last waiter: without it
  // there are no waiters.
  if (!seen && seen.error() == ServerErrc::no_node) co_return ConditionLine{{}};
  if (!seen) co_return seen.error();
  co_return ConditionLine{seen->value.names};
}

asio::awaitable<Result<ConditionLine>> pass_on(ConditionSpecPtr condition,
                                               CancellationPtr cancellation,
                                               OperationOptions options, ConditionLine line) {
  for (;;) {
    const auto passing = line.passing();
    if (!passing) co_return line;
    Transaction transaction{remove(join(condition->path, signal_to(passing->from)))};
    add_signal(transaction, condition->path, passing->to, {});
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        condition->client.core(), cancellation, std::move(transaction), options);
    if (error && !line_has_moved(error) && !leaves_doubt(error)) co_return error;
    Result<ConditionLine> now = co_await list_line(condition, cancellation, options);
    if (!now) co_return now.error();
    line = std::move(*now);
  }
}

asio::awaitable<Result<std::size_t>> signal_waiters(ConditionSpecPtr condition,
                                                    CancellationPtr cancellation, Lease lease,
                                                    std::size_t most, OperationOptions options) {
  const auto core = condition->client.core();
  const std::string id = make_uuid();
  std::size_t given = 0;
  while (given < most) {
    const Result<ConditionLine> line = co_await list_line(condition, cancellation, options);
    if (!line) co_return failed<std::size_t>(line.error());
    const std::vector<std::string> next = line->unsignalled(std::min(most - given, most_at_once));
    if (next.empty()) {
      // If the lease was lost, the empty line proves nothing: in the new session the server may lag
      // behind the former one.
      if (lease.state() == LeaseState::lost) co_return failed<std::size_t>(Errc::lock_lost);
      break;
    }
    Transaction transaction{lease.check()};
    for (const std::string& waiter : next) add_signal(transaction, condition->path, waiter, id);
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        core, cancellation, std::move(transaction), options);
    if (!error) {
      given += next.size();
    } else if (leaves_doubt(error)) {
      const Result<std::size_t> settled =
          co_await count_given(condition, cancellation, next, id, options);
      // If the servers do not say whether the signals were given, the doubt remains.
      if (!settled) co_return failed<std::size_t>(error);
      given += *settled;
    } else if (!line_has_moved(error)) {
      co_return failed<std::size_t>(error);
    } else if (!results.empty() && results.front().error == ServerErrc::no_node) {
      co_return failed<std::size_t>(Errc::lock_lost);
    }
  }
  co_return given;
}

}  // namespace custodian::recipes_detail
