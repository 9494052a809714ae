#include "barriers/party_entry.hpp"

#include <algorithm>
#include <utility>

#include "barriers/awaited_create.hpp"
#include "custodian/authoring/follow.hpp"

// How a member enters, as docs/model/double_barrier.pml has it (its guards in capitals):
//
// 1. Create the own node. A process is counted once, however many nodes of it exist (ONE_NAME).
// 2. Watch the ready node, and list the members.
// 3. If there are enough members, create the ready node, in a transaction that checks every member
//    of the listing (CHECKED_MEMBERS). Otherwise sleep until the ready node is created.
// 4. If the ready node counts this member, the member is in. If it does not:
//    - None of the members that it counts is left (STALE): remove the ready node.
//    - Others are in: join them, in a transaction that checks one of them (COMPANY), or wait
//      without a node until none of them is left.
// 5. A member that gives up removes its node, unless a party was complete since the listing
//    (CHECKED_WITHDRAWAL).

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

// -- The own node ---------------------------------------------------------------------------------

asio::awaitable<error_code> create_own(PartyPtr party, CancellationPtr cancellation) {
  Client client = party->client.share();
  const std::string path = join(party->path, party->name);
  Result<Created> created = co_await awaited_create(std::move(client), std::move(cancellation),
                                                    path, Parents::created_as_containers);
  if (!created) co_return created.error();
  // The server that has created the node has seen all earlier changes.
  party->caught_up_in = created->stat.ephemeral_owner;
  party->own = OwnedNode{party->client.core(), std::move(*created)};
  party->standing = Standing{};
  co_return error_code{};
}

/// Removes the own node after the end of its session. If only the client has given the session up,
/// the servers may still know it, and count its node. A party may have become complete with the
/// node: the barrier's data name the members of the last party, even after it is over.
asio::awaitable<Result<void>> forget_lost_node(PartyPtr party, CancellationPtr cancellation,
                                               OperationOptions options) {
  const std::string own{party->own.name()};
  const std::int64_t created_by = party->own.stat().czxid;
  const std::string barrier_path = party->path;
  const std::string ready_path = party->ready();
  for (;;) {
    const Result<Members> members = co_await list(party, cancellation, options);
    if (!members) co_return members.error();
    // Read after the listing: the data are final if the node was gone by then, or if the removal
    // below finds that no member has come in since.
    const Result<std::optional<GetResult>> barrier =
        co_await read_node(party, cancellation, barrier_path, options);
    if (!barrier) co_return barrier.error();
    const Result<std::optional<GetResult>> ready =
        co_await read_node(party, cancellation, ready_path, options);
    if (!ready) co_return ready.error();
    const Counted counted = counted_since(party->standing, *barrier, own, created_by);
    const Counted by_ready = *ready ? counted_by(**ready, own, created_by) : Counted::no;
    if (counted == Counted::yes || by_ready != Counted::no) co_return Errc::session_lost;
    if (members->has(own)) {
      Transaction removal{check(party->path, members->version), remove(party->own.path())};
      const error_code error = co_await commit(party, cancellation, std::move(removal), options);
      if (error && !is_overtaken(error)) co_return error;
      if (error) continue;
    }
    if (counted == Counted::perhaps) co_return Errc::session_lost;
    party->leave_behind();
    co_return Result<void>{};
  }
}

/// Ensures that the member has a node of its present session.
asio::awaitable<Result<void>> take_place(PartyPtr party, CancellationPtr cancellation) {
  while (!party->own.alive()) {
    if (party->own.created()) {
      const OperationOptions patient = party->patient();
      const Result<void> forgotten = co_await forget_lost_node(party, cancellation, patient);
      if (!forgotten) co_return forgotten.error();
    }
    const error_code error = co_await create_own(party, cancellation);
    if (error) co_return error;
  }
  co_return Result<void>{};
}

// -- The party ------------------------------------------------------------------------------------

/// Completes the party with these members and no others.
asio::awaitable<error_code> seal(PartyPtr party, CancellationPtr cancellation,
                                 std::vector<std::string> members) {
  const OperationOptions patient = party->patient();
  Transaction transaction = completing(party->path, members);
  co_return co_await commit(party, std::move(cancellation), std::move(transaction), patient);
}

/// The name of a member that is left of the party of `ready`; empty if none is left. `ready` must
/// not count the own member.
asio::awaitable<Result<std::string>> survivor_of(PartyPtr party, CancellationPtr cancellation,
                                                 GetResult ready,
                                                 std::vector<std::string> members) {
  if (state_of(ready.data, members) != PartyState::unknown) {
    co_return first_counted(ready.data, members);
  }
  // The ready node is another library's: in its party are the members that were there before the
  // ready node.
  const OperationOptions patient = party->patient();
  for (const std::string& member : members) {
    const std::string path = join(party->path, member);
    const Result<std::optional<GetResult>> seen =
        co_await read_node(party, cancellation, path, patient);
    if (!seen) co_return seen.error();
    if (*seen && (*seen)->stat.czxid < ready.stat.czxid) co_return member;
  }
  co_return std::string{};
}

/// Waits until the party is over whose ready node was created by this transaction. The ready node
/// may stay longer: all members may crash, or the last one may give up.
asio::awaitable<Result<void>> until_over(PartyPtr party, CancellationPtr cancellation,
                                         std::int64_t created_by) {
  const CorePtr core = party->client.core();
  const OperationOptions patient = party->patient();
  const std::string ready_path = party->ready();
  for (;;) {
    const Result<Watched<GetResult>> ready =
        co_await read_data(core, cancellation, ready_path, patient, Watching::yes);
    if (ready.error() == ServerErrc::no_node) co_return Result<void>{};
    if (!ready) co_return ready.error();
    if (ready->value.stat.czxid != created_by) co_return Result<void>{};
    const Result<Members> members = co_await list(party, cancellation, patient);
    if (!members) co_return members.error();
    const Result<std::string> survivor =
        co_await survivor_of(party, cancellation, ready->value, members->names);
    if (!survivor) co_return survivor.error();
    if (survivor->empty()) co_return Result<void>{};
    const std::string path = join(party->path, *survivor);
    const Result<Watched<GetResult>> member =
        co_await read_data(core, cancellation, path, patient, Watching::yes);
    if (member.error() == ServerErrc::no_node) continue;
    if (!member) co_return member.error();
    std::vector watchers{ready->watch.state(), member->watch.state()};
    const auto [error] = co_await await<&start_wait_any>(core, cancellation, std::move(watchers));
    if (error && error != Errc::session_lost) co_return error;
  }
}

enum class Admission : std::uint8_t { in, again };

/// Lets a member in that the ready node does not count, if it may join; or has it wait for the end
/// of the party.
asio::awaitable<Result<Admission>> come_late(PartyPtr party, CancellationPtr cancellation) {
  const OperationOptions patient = party->patient();
  const Result<Members> members = co_await list(party, cancellation, patient);
  if (!members) co_return members.error();
  if (!party->own.alive() || !members->is_ready) co_return Admission::again;
  if (!members->has(party->own.name())) co_return Errc::node_deleted;
  // Read after the listing: the transactions below check that no member has come in since.
  const std::string ready_path = party->ready();
  Result<std::optional<GetResult>> seen =
      co_await read_node(party, cancellation, ready_path, patient);
  if (!seen) co_return seen.error();
  if (!*seen) co_return Admission::again;
  GetResult ready = std::move(**seen);
  const Counted counted = counted_by(ready, party->own.name(), party->own.stat().czxid);
  if (counted != Counted::no) co_return Admission::again;
  party->standing = members->standing();
  const Result<std::string> survivor =
      co_await survivor_of(party, cancellation, ready, members->names);
  if (!survivor) co_return survivor.error();
  const bool is_stale = survivor->empty();
  if (!is_stale && party->late == Late::waits) {
    const Result<bool> too_late = co_await withdraw(party, cancellation, patient);
    if (!too_late) co_return too_late.error();
    if (*too_late) co_return Admission::in;
    const Result<void> over = co_await until_over(party, cancellation, ready.stat.czxid);
    if (!over) co_return over.error();
    co_return Admission::again;
  }
  // The check fails if the client has another session by now.
  Transaction transaction{check(party->own.path())};
  if (is_stale) {
    transaction.push_back(check(party->path, members->version));
    transaction.push_back(remove(ready_path));
  } else {
    // The party's lowest member leaves last, so some member is still in. The survivor is one of
    // those.
    std::vector<std::string> company = in_party(ready.data, members->names);
    std::erase(company, party->own.name());
    transaction.push_back(check(join(party->path, company.front())));
    const std::string data = joined(std::move(ready.data), party->own.name(), members->names);
    transaction.push_back(set(party->path, data, members->version));
    transaction.push_back(set(ready_path, data, ready.stat.version));
  }
  const error_code error = co_await commit(party, cancellation, std::move(transaction), patient);
  if (error && !is_overtaken(error)) co_return error;
  co_return error || is_stale ? Admission::again : Admission::in;
}

/// Decides what the present ready node means to this member.
asio::awaitable<Result<Admission>> judge(PartyPtr party, CancellationPtr cancellation) {
  const OperationOptions patient = party->patient();
  const std::string ready_path = party->ready();
  const Result<std::optional<GetResult>> ready =
      co_await read_node(party, cancellation, ready_path, patient);
  if (!ready) co_return ready.error();
  if (!*ready || !party->own.alive()) co_return Admission::again;
  const Counted counted = counted_by(**ready, party->own.name(), party->own.stat().czxid);
  if (counted != Counted::no) co_return Admission::in;
  co_return co_await come_late(party, std::move(cancellation));
}

}  // namespace

asio::awaitable<Result<void>> until_complete(PartyPtr party, CancellationPtr cancellation) {
  const CorePtr core = party->client.core();
  const OperationOptions patient = party->patient();
  const std::string ready_path = party->ready();
  bool is_ready = false;
  for (;;) {
    const Result<void> stands = co_await take_place(party, cancellation);
    if (!stands) co_return stands.error();
    if (is_ready) {
      is_ready = false;
      const Result<Admission> admission = co_await judge(party, cancellation);
      if (!admission) co_return admission.error();
      if (*admission == Admission::in) co_return Result<void>{};
      continue;
    }
    const Result<Watched<std::optional<Stat>>> ready =
        co_await read_existence(core, cancellation, ready_path, patient, Watching::yes);
    if (!ready) co_return ready.error();
    const Result<Members> members = co_await list(party, cancellation, patient);
    if (!members) co_return members.error();
    if (!party->own.alive()) continue;
    if (!members->has(party->own.name())) co_return Errc::node_deleted;
    is_ready = members->is_ready;
    if (is_ready) continue;
    party->standing = members->standing();
    if (count_members(members->names) >= static_cast<std::size_t>(party->needed)) {
      const error_code error = co_await seal(party, cancellation, members->names);
      if (!error) co_return Result<void>{};
      if (!is_overtaken(error)) co_return error;
      continue;
    }
    const auto [error, event] =
        co_await await<&start_wait, WatchEventType>(core, cancellation, ready->watch.state());
    if (error && error != Errc::session_lost) co_return error;
    is_ready = !error && event == WatchEventType::created;
  }
}

asio::awaitable<Result<bool>> withdraw(PartyPtr party, CancellationPtr cancellation,
                                       OperationOptions options) {
  const std::string ready_path = party->ready();
  for (;;) {
    if (!party->own.created()) co_return false;
    if (!party->own.alive()) {
      const Result<void> forgotten = co_await forget_lost_node(party, cancellation, options);
      if (!forgotten) co_return failed<bool>(forgotten.error());
      continue;
    }
    const Result<Members> members = co_await list(party, cancellation, options);
    if (!members) co_return failed<bool>(members.error());
    const Result<std::optional<GetResult>> ready =
        co_await read_node(party, cancellation, ready_path, options);
    if (!ready) co_return failed<bool>(ready.error());
    if (!party->own.alive()) continue;
    if (*ready) {
      const Counted counted = counted_by(**ready, party->own.name(), party->own.stat().czxid);
      if (counted != Counted::no) co_return true;
    }
    party->standing = members->standing();
    Transaction removal{check(party->path, members->version), remove(party->own.path())};
    const error_code error = co_await commit(party, cancellation, std::move(removal), options);
    if (!error || (error == ServerErrc::no_node && party->own.alive())) {
      party->leave_behind();
    } else if (!is_overtaken(error)) {
      co_return failed<bool>(error);
    }
  }
}

}  // namespace custodian::recipes_detail
