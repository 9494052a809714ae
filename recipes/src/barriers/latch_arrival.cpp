#include "barriers/latch_arrival.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

// -- The latch's node -----------------------------------------------------------------------------

asio::awaitable<error_code> create_latch(CountDownPtr latch, CancellationPtr cancellation,
                                         OperationOptions options) {
  CreateOptions container{.mode = CreateMode::container,
                          .parents = Parents::created_as_containers,
                          .deadline = options.deadline,
                          .retry = options.retry};
  std::string data = latch_data(latch->expected);
  const auto [error, created] =
      co_await await<&start_create, Created>(latch->client.core(), std::move(cancellation),
                                             latch->path, std::move(data), std::move(container));
  // Either the node exists now, or the caller looks for it again.
  const bool is_there = error == ServerErrc::node_exists || error == ServerErrc::connection_loss;
  // A doubtful create of the latch does no harm: no arrival was counted.
  if (error == Errc::deadline_exceeded_outcome_unknown) co_return Errc::deadline_exceeded;
  co_return is_there ? error_code{} : error;
}

}  // namespace

asio::awaitable<Result<Stat>> join_in(CountDownPtr latch, CancellationPtr cancellation,
                                      OperationOptions options) {
  const CorePtr core = latch->client.core();
  const std::string path = latch->path;
  for (;;) {
    const Result<Watched<GetResult>> seen =
        co_await read_data(core, cancellation, path, options, Watching::no);
    if (seen) {
      const auto expected = expected_of(seen->value.data);
      if (!expected) co_return Errc::malformed_data;
      if (*expected != latch->expected) co_return Errc::invalid_argument;
      co_return seen->value.stat;
    }
    if (seen.error() != ServerErrc::no_node) co_return seen.error();
    const error_code error = co_await create_latch(latch, cancellation, options);
    if (error) co_return error;
  }
}

asio::awaitable<Result<std::int32_t>> count_tickets(CountDownPtr latch,
                                                    CancellationPtr cancellation,
                                                    OperationOptions options) {
  const CorePtr core = latch->client.core();
  const std::string path = latch->path;
  const Result<Watched<Children>> seen =
      co_await read_children(core, std::move(cancellation), path, options, Watching::no);
  if (!seen) co_return failed<std::int32_t>(seen.error());
  co_return arrivals_of(seen->value.names);
}

namespace {

// -- Arriving -------------------------------------------------------------------------------------

asio::awaitable<Result<TicketsOf>> look_whose(CountDownPtr latch, CancellationPtr cancellation,
                                              Tickets tickets, std::string arriver,
                                              OperationOptions options) {
  const CorePtr core = latch->client.core();
  const std::string first = join(latch->path, ticket_name(tickets.first));
  const Result<Watched<GetResult>> seen =
      co_await read_data(core, std::move(cancellation), first, options, Watching::no);
  if (seen) co_return tickets_of(seen->value.data, arriver);
  if (seen.error() == ServerErrc::no_node) co_return tickets_of(std::nullopt, arriver);
  co_return seen.error();
}

/// The error of an arrival that may have been counted.
error_code in_doubt(error_code error) {
  if (error == Errc::deadline_exceeded) return Errc::deadline_exceeded_outcome_unknown;
  const bool says_so = error == ErrorCondition::outcome_unknown || error == Errc::closed ||
                       error == asio::error::operation_aborted;
  return says_so ? error : make_error_code(ServerErrc::connection_loss);
}

/// Creates the tickets. Returns whose they are: the arriver's, or those of others, who were
/// quicker. After a lost reply the same transaction is sent again, with the same numbers. So it is
/// applied at most once, however late the servers see the first one.
asio::awaitable<Result<TicketsOf>> take(CountDownPtr latch, CancellationPtr cancellation,
                                        Tickets tickets, std::string arriver,
                                        OperationOptions options) {
  const CorePtr core = latch->client.core();
  bool is_lost = false;
  for (;;) {
    Transaction transaction = create_tickets(latch->path, tickets, arriver);
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        core, cancellation, std::move(transaction), options);
    if (!error) co_return TicketsOf::arriver;
    const bool is_refused = error == ServerErrc::node_exists || error == ServerErrc::no_node;
    if (is_refused && !is_lost) co_return TicketsOf::others;
    if (error == ServerErrc::connection_loss) {
      is_lost = true;
    } else if (!is_refused) {
      co_return is_lost ? in_doubt(error) : error;
    }
    const Result<TicketsOf> whose =
        co_await look_whose(latch, cancellation, tickets, arriver, options);
    if (!whose) co_return in_doubt(whose.error());
    if (*whose != TicketsOf::nobody) co_return *whose;
    // The ticket before these is gone, so the latch was deleted.
    if (error == ServerErrc::no_node) co_return TicketsOf::others;
  }
}

/// Counts the arrivals again, after others were quicker. Creates a latch that was deleted.
asio::awaitable<Result<std::int32_t>> recount(CountDownPtr latch, CancellationPtr cancellation,
                                              OperationOptions options) {
  for (;;) {
    Result<std::int32_t> counted = co_await count_tickets(latch, cancellation, options);
    if (counted.error() != ServerErrc::no_node) co_return counted;
    const Result<Stat> joined = co_await join_in(latch, cancellation, options);
    if (!joined) co_return failed<std::int32_t>(joined.error());
  }
}

}  // namespace

asio::awaitable<Result<void>> count_down(CountDownPtr latch, CancellationPtr cancellation,
                                         std::int32_t arrivals, OperationOptions options) {
  const std::string arriver = make_uuid();
  const Result<Stat> joined = co_await join_in(latch, cancellation, options);
  if (!joined) co_return joined.error();
  if (arrivals == 0) co_return Result<void>{};
  // A guess that is right, unless others arrive at this moment, or the latch has other children.
  std::int32_t before = joined->child_count;
  for (bool is_guess = true;; is_guess = false) {
    const Tickets tickets = next_tickets(latch->expected, before, arrivals);
    if (tickets.count == 0 && !is_guess) co_return Result<void>{};
    if (tickets.count > 0) {
      const Result<TicketsOf> whose = co_await take(latch, cancellation, tickets, arriver, options);
      if (!whose) co_return whose.error();
      if (*whose == TicketsOf::arriver) co_return Result<void>{};
    }
    const Result<std::int32_t> counted = co_await recount(latch, cancellation, options);
    if (!counted) co_return counted.error();
    before = *counted;
  }
}

}  // namespace custodian::recipes_detail
