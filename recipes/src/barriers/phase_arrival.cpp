#include "barriers/phase_arrival.hpp"

#include <algorithm>
#include <vector>

#include "barriers/awaited_create.hpp"
#include "barriers/phase_rules.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

// -- The nodes ------------------------------------------------------------------------------------

/// Creates the barrier's node, which must not be a container: the servers may delete a container
/// when a phase is over, before its arrivals have read that.
asio::awaitable<error_code> create_barrier(PhasesPtr phases, CancellationPtr cancellation) {
  CreateOptions options{.parents = Parents::created_as_containers,
                        .deadline = Deadline::never(),
                        .retry = phases->client.retry_policy().unlimited()};
  std::string nothing;
  const auto [error, created] =
      co_await await<&start_create, Created>(phases->client.core(), std::move(cancellation),
                                             phases->path, std::move(nothing), std::move(options));
  // Either the node exists now, or the caller looks for it again.
  const bool is_there = error == ServerErrc::node_exists || error == ServerErrc::connection_loss;
  co_return is_there ? error_code{} : error;
}

asio::awaitable<error_code> create_own(PhaseArrivalPtr arrival, CancellationPtr cancellation,
                                       std::int32_t phase) {
  const PhasesPtr phases = arrival->phases;
  Client client = phases->client.share();
  const std::string path = join(phases->path, arrival_name(phase));
  Result<Created> created = co_await awaited_create(std::move(client), std::move(cancellation),
                                                    path, Parents::must_exist);
  if (!created) co_return created.error();
  // The server that has created the node has seen all earlier changes.
  arrival->caught_up_in = created->stat.ephemeral_owner;
  arrival->phase = phase;
  arrival->own = OwnedNode{phases->client.core(), std::move(*created)};
  co_return error_code{};
}

// -- Looking --------------------------------------------------------------------------------------

/// Reads the barrier. In a new session it first waits until the server has caught up.
asio::awaitable<Result<Watched<GetResult>>> read_barrier(PhaseArrivalPtr arrival,
                                                         CancellationPtr cancellation,
                                                         OperationOptions options,
                                                         Watching watching) {
  const PhasesPtr phases = arrival->phases;
  const CorePtr core = phases->client.core();
  const std::string path = phases->path;
  for (;;) {
    const bool may_lag =
        arrival->own.created() && phases->client.session().id != arrival->caught_up_in;
    if (may_lag) {
      const auto [error] = co_await await<&start_sync>(core, cancellation, path, options);
      if (error) co_return error;
      arrival->caught_up_in = phases->client.session().id;
    }
    Result<Watched<GetResult>> seen =
        co_await read_data(core, cancellation, path, options, watching);
    // The read was repeated in another session, whose server may lag behind.
    const bool lags =
        arrival->own.created() && phases->client.session().id != arrival->caught_up_in;
    if (lags && (seen || seen.error() == ServerErrc::no_node)) continue;
    co_return std::move(seen);
  }
}

asio::awaitable<Result<Children>> list(PhaseArrivalPtr arrival, CancellationPtr cancellation,
                                       OperationOptions options) {
  const CorePtr core = arrival->phases->client.core();
  const std::string path = arrival->phases->path;
  Result<Watched<Children>> seen =
      co_await read_children(core, std::move(cancellation), path, options, Watching::no);
  if (!seen) co_return seen.error();
  co_return std::move(seen->value);
}

/// Whether the own node is gone: the end of a phase has removed it, or an operator has.
asio::awaitable<Result<bool>> is_gone(PhaseArrivalPtr arrival, CancellationPtr cancellation,
                                      OperationOptions options) {
  const CorePtr core = arrival->phases->client.core();
  const std::string path = arrival->own.path();
  const Result<Watched<std::optional<Stat>>> seen =
      co_await read_existence(core, std::move(cancellation), path, options, Watching::no);
  if (!seen) co_return failed<bool>(seen.error());
  co_return !seen->value.has_value();
}

/// Removes the own node, of whichever session it is: the client may have given the session up while
/// the servers still know it, and count its node. After the removal no phase can count the arrival
/// any more. So its fate is final: `passed`; `left_over`, if it was not counted; or `unknown`.
asio::awaitable<Result<Arrival>> remove_own(PhaseArrivalPtr arrival, CancellationPtr cancellation,
                                            OperationOptions options) {
  const CorePtr core = arrival->phases->client.core();
  const OwnedNode& own = arrival->own;
  bool was_there = false;
  bool in_doubt = false;  // the reply to a removal was lost
  for (;;) {
    Transaction removal{remove(own.path())};
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        core, cancellation, std::move(removal), options);
    was_there = !error;
    if (!error || error == ServerErrc::no_node) break;
    if (error != ServerErrc::connection_loss) co_return error;
    in_doubt = true;
  }
  arrival->own.note_gone();
  const Result<Watched<GetResult>> barrier =
      co_await read_barrier(arrival, std::move(cancellation), options, Watching::no);
  if (barrier.error() == ServerErrc::no_node) co_return Arrival::left_over;
  if (!barrier) co_return barrier.error();
  const Arrival fate = fate_of(barrier->value, own.name(), arrival->phase);
  // True even if the node was there: a create that was applied late has brought it back.
  if (fate == Arrival::passed) co_return fate;
  if (fate != Arrival::unknown || was_there) co_return Arrival::left_over;
  co_return own.alive() && !in_doubt ? Arrival::passed : Arrival::unknown;
}

/// Ends the phase with these arrivals, unless another client has ended it, or one of them is gone.
/// Returns whether this call has ended the phase with the own arrival among them.
asio::awaitable<Result<bool>> end_phase(PhaseArrivalPtr arrival, CancellationPtr cancellation,
                                        std::vector<std::string> arrivals, std::string before) {
  const PhasesPtr phases = arrival->phases;
  const OperationOptions patient = phases->patient();
  Transaction transaction = ending_phase(phases->path, arrivals, arrival->phase, std::move(before));
  const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
      phases->client.core(), std::move(cancellation), std::move(transaction), patient);
  const bool is_among_them = std::ranges::find(arrivals, arrival->own.name()) != arrivals.end();
  if (!error && is_among_them) arrival->own.note_gone();
  if (!error) co_return is_among_them;
  const bool is_overtaken = error == ServerErrc::no_node || error == ServerErrc::bad_version ||
                            error == ServerErrc::connection_loss;
  co_return is_overtaken ? Result<bool>{false} : failed<bool>(error);
}

}  // namespace

// -- From start to end ----------------------------------------------------------------------------

asio::awaitable<Result<void>> until_passed(PhaseArrivalPtr arrival, CancellationPtr cancellation) {
  const PhasesPtr phases = arrival->phases;
  const CorePtr core = phases->client.core();
  const OperationOptions patient = phases->patient();
  for (;;) {
    // This watch fires when the phase ends.
    const Result<Watched<GetResult>> barrier =
        co_await read_barrier(arrival, cancellation, patient, Watching::yes);
    if (barrier.error() == ServerErrc::no_node) {
      const error_code error = co_await create_barrier(phases, cancellation);
      if (error) co_return error;
      continue;
    }
    if (!barrier) co_return barrier.error();
    OwnedNode& own = arrival->own;
    if (own.created()) {
      const Arrival fate = fate_of(barrier->value, own.name(), arrival->phase);
      if (fate == Arrival::passed) {
        const std::int64_t created_by = own.stat().czxid;
        if (is_certainly_gone(barrier->value, arrival->phase, created_by)) own.note_gone();
        co_return Result<void>{};
      }
      if (!own.alive()) {
        const Result<Arrival> in_the_end = co_await remove_own(arrival, cancellation, patient);
        if (!in_the_end) co_return in_the_end.error();
        if (*in_the_end == Arrival::passed) co_return Result<void>{};
        if (*in_the_end == Arrival::unknown) co_return Errc::session_lost;
      } else if (fate != Arrival::waits) {
        const Result<bool> has_gone = co_await is_gone(arrival, cancellation, patient);
        if (!has_gone) co_return has_gone.error();
        if (!own.alive()) continue;
        if (*has_gone) own.note_gone();
        if (*has_gone && fate == Arrival::unknown) co_return Result<void>{};
        if (*has_gone) co_return Errc::node_deleted;
      }
      // A node of a former phase or session does not count: a new one is created below.
      if (fate != Arrival::waits || !own.alive()) own = OwnedNode{};
    }
    if (!own.created()) {
      const error_code error =
          co_await create_own(arrival, cancellation, barrier->value.stat.version);
      if (error == ServerErrc::no_node) continue;
      if (error) co_return error;
    }
    Result<Children> listed = co_await list(arrival, cancellation, patient);
    if (listed.error() == ServerErrc::no_node) continue;
    if (!listed) co_return listed.error();
    if (listed->stat.version != arrival->phase || !own.alive()) continue;
    const std::vector<std::string>& names = listed->names;
    if (std::ranges::find(names, own.name()) == names.end()) co_return Errc::node_deleted;
    std::vector<std::string> enough =
        arrivals_of_phase(std::move(listed->names), phases->expected, arrival->phase);
    if (!enough.empty()) {
      std::string before = barrier->value.data;
      const Result<bool> passed =
          co_await end_phase(arrival, cancellation, std::move(enough), std::move(before));
      if (!passed) co_return passed.error();
      if (*passed) co_return Result<void>{};
      continue;
    }
    const error_code error = co_await until_changed(core, cancellation, barrier->watch);
    if (error) co_return error;
  }
}

asio::awaitable<Result<bool>> take_back(PhaseArrivalPtr arrival, OperationOptions options) {
  OwnedNode& own = arrival->own;
  if (!own.created()) co_return false;
  const CancellationPtr none;
  const Result<Arrival> fate = co_await remove_own(arrival, none, options);
  if (!fate) co_return failed<bool>(fate.error());
  if (*fate == Arrival::passed) co_return true;
  if (*fate == Arrival::unknown) {
    co_return failed<bool>(own.alive() ? make_error_code(ServerErrc::connection_loss)
                                       : make_error_code(Errc::session_lost));
  }
  own = OwnedNode{};
  co_return false;
}

}  // namespace custodian::recipes_detail
