#include "barriers/party_exit.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "custodian/authoring/follow.hpp"

// How a member leaves, as docs/model/double_barrier.pml has it:
//
// The lowest member stays until it is alone in the party. Then it removes the ready node together
// with its own, in a transaction that fails if another member has joined since the listing
// (CHECKED_END). Every other member removes its node at once, and waits until all members that were
// in at that time have left (OWN_PARTY). It does not wait for a member that comes later, or that
// has come and not joined yet: such a member may belong to the next party, and may be waiting there
// for this one.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// The members that a leaving member waits for: those that were in when the last listing showed its
/// own node.
struct Others {
  std::vector<std::string> names{};
  std::int64_t until = 0;  ///< the greatest of their czxids, or a later transaction

  /// The members that are still listed.
  [[nodiscard]] std::vector<std::string> among(const std::vector<std::string>& listed) const {
    std::vector<std::string> left;
    std::ranges::set_intersection(names, listed, std::back_inserter(left));
    return left;
  }
};

/// Waits until the member's node is gone or may have changed. Returns true if the node of this name
/// is a later member's: other libraries use names again.
asio::awaitable<Result<bool>> until_gone(PartyPtr party, CancellationPtr cancellation,
                                         std::string name, std::int64_t until) {
  const CorePtr core = party->client.core();
  const OperationOptions patient = party->patient();
  const std::string path = join(party->path, name);
  const Result<Watched<GetResult>> seen =
      co_await read_data(core, cancellation, path, patient, Watching::yes);
  if (seen.error() == ServerErrc::no_node) co_return false;
  if (!seen) co_return failed<bool>(seen.error());
  if (seen->value.stat.czxid > until) co_return true;
  const error_code error = co_await until_changed(core, cancellation, seen->watch);
  if (error) co_return failed<bool>(error);
  co_return false;
}

/// Removes the own node. The last member removes the ready node with it.
asio::awaitable<error_code> remove_own(PartyPtr party, CancellationPtr cancellation, bool is_last,
                                       Members members) {
  Transaction removal;
  if (is_last) removal.push_back(check(party->path, members.version));
  removal.push_back(remove(party->own.path()));
  if (is_last && members.is_ready) removal.push_back(remove(party->ready()));
  const OperationOptions patient = party->patient();
  const error_code error =
      co_await commit(party, std::move(cancellation), std::move(removal), patient);
  if (!error) party->leave_behind();
  co_return error;
}

}  // namespace

asio::awaitable<Result<void>> until_left(PartyPtr party, CancellationPtr cancellation) {
  const OperationOptions patient = party->patient();
  const std::string own{party->own.name()};
  const std::string ready_path = party->ready();
  Others others;
  bool in_doubt = false;  // the reply to the removal of the own node was lost
  for (;;) {
    const Result<Members> members = co_await list(party, cancellation, patient);
    if (!members) co_return members.error();
    if (party->own.created()) {
      const bool is_there = party->own.alive() && members->has(own);
      if (!is_there && !in_doubt) {
        co_return party->own.alive() ? Errc::node_deleted : Errc::session_lost;
      }
      if (!members->has(own)) {
        party->leave_behind();
      } else if (!is_there) {
        party->own = OwnedNode{};
      }
      if (is_there && members->is_ready) {
        // Read after the listing: a member that joins later changes the version.
        const Result<std::optional<GetResult>> ready =
            co_await read_node(party, cancellation, ready_path, patient);
        if (!ready) co_return ready.error();
        if (!*ready) continue;
        others = Others{in_party((*ready)->data, members->names), members->changed_by};
      } else if (is_there && others.names.empty()) {
        // Another library's member has removed the ready node before it left.
        others = Others{members->names, members->changed_by};
      }
    }
    const Leaving next = next_of_leaving(others.among(members->names), own);
    if (next.is_over) co_return Result<void>{};
    if (next.is_last || next.removes_own_node) {
      const error_code error = co_await remove_own(party, cancellation, next.is_last, *members);
      if (error && !is_overtaken(error)) co_return error;
      in_doubt = in_doubt || error == ServerErrc::connection_loss;
      if (error) continue;
      if (next.is_last) co_return Result<void>{};
    }
    const Result<bool> is_anothers =
        co_await until_gone(party, cancellation, next.waits_for, others.until);
    if (!is_anothers) co_return is_anothers.error();
    if (*is_anothers) std::erase(others.names, next.waits_for);
  }
}

}  // namespace custodian::recipes_detail
