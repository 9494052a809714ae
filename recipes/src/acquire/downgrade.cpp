#include "acquire/downgrade.hpp"

#include <stop_token>

#include "acquire/contender.hpp"
#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

std::optional<ContenderName> contender_of(const LockSpec& spec, const std::string& node) {
  const ParsedName parsed = parse_name(name_of(node), spec.rule);
  const auto* contender = std::get_if<ContenderName>(&parsed);
  if (parent_of(node) != spec.path || contender == nullptr) return std::nullopt;
  return *contender;
}

/// The ten digits that a server appends to the name of a sequential node.
std::string_view number_of(std::string_view node) { return node.substr(node.size() - 10); }

}  // namespace

bool is_of_same_kind(const LockSpec& spec, const Lease& held) {
  const auto contender = contender_of(spec, held.node());
  return contender && contender->kind == spec.kind;
}

error_code objection_to(const LockSpec& spec, const Lease& held) {
  const LeaseState state = held.state();
  if (!held || state == LeaseState::lost || state == LeaseState::released) return Errc::lock_lost;
  const auto contender = contender_of(spec, held.node());
  if (!contender || held.core() != spec.client.core()) return Errc::invalid_argument;
  if (spec.kind == ContenderKind::exclusive && contender->kind == ContenderKind::shared) {
    return make_error_code(boost::system::errc::resource_deadlock_would_occur);
  }
  return {};
}

std::string_view explain_objection(const error_code& error) noexcept {
  if (!error) return {};
  if (error == Errc::lock_lost) return "lease: it is not held any more";
  if (error == Errc::invalid_argument) return "lease: it is another lock's, or another client's";
  return "who holds the read lock cannot take the write lock besides: two of them would wait for "
         "each other for ever. Release it first, or take the write lock from the start and "
         "downgrade";
}

namespace {

/// Creates the reader's node. A create whose reply was lost is repeated, unless the acquire is a
/// try; if the acquire ends in doubt, the node is deleted in the background.
asio::awaitable<Result<Leases>> create_beside(AcquirePtr acquire) {
  const auto core = acquire->client().core();
  const LockSpec& spec = *acquire->spec;
  std::string name = make_node_name(make_uuid(), spec.lock_name);
  name += number_of(acquire->held.node());
  const std::string path = join(spec.path, name);
  const auto began = std::chrono::steady_clock::now();

  bool in_doubt = false;
  for (;;) {
    Transaction creation{acquire->held.check(), create(path, spec.identity, CreateMode::ephemeral)};
    auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        core, acquire->give_up, std::move(creation), acquire->operation());
    // A repeated create finds the node that an earlier one has created.
    if (!error || error == ServerErrc::node_exists) break;
    const bool unknown = error == ErrorCondition::outcome_unknown;
    in_doubt = in_doubt || unknown || error == asio::error::operation_aborted;
    if (unknown && !acquire->wait_limit.try_once && !acquire->give_up->requested()) continue;
    // The node may exist. If this session has created it, destroying `left` deletes it; if an
    // earlier session has, the node ends with that session.
    OwnedNode left;
    if (in_doubt) {
      detail::remember_doubtful(*core, path, detail::NodeOf::nobody, began);
      left =
          OwnedNode{core, Created{path, Stat{.ephemeral_owner = acquire->client().session().id}}};
    }
    // The transaction's check has failed: an operator has deleted the writer's node.
    if (error == ServerErrc::no_node) error = Errc::lock_lost;
    co_return error;
  }

  acquire->has_queued = true;
  // Reads the new node's Stat. An operator may have deleted the node meanwhile.
  auto [error, stat] = co_await await<&start_exists, std::optional<Stat>>(
      core, acquire->give_up, path, acquire->operation());
  const bool missing = !error && !stat;
  if (in_doubt) {
    // The servers may yet apply a create whose reply was lost. Unless the caller owns the node by
    // then, the client deletes it.
    const auto owner = missing ? detail::NodeOf::nobody : detail::NodeOf::caller;
    detail::remember_doubtful(*core, path, owner, began);
  }
  if (missing) co_return Errc::node_deleted;
  const Stat known = stat.value_or(Stat{.ephemeral_owner = acquire->client().session().id});
  OwnedNode node{core, Created{path, known}};
  if (error) co_return error;
  const LocalQueuePtr line = LocalQueue::of(spec);
  line->enter_beside(node, spec, positions_of(*acquire), name_of(acquire->held.node()));
  co_return co_await take(acquire, std::move(node));
}

}  // namespace

asio::awaitable<Result<Leases>> stand_beside(AcquirePtr acquire) {
  // No other writer of this client may get this writer's node while the caller reads.
  detail::end_passing(detail::lock_node(acquire->held));
  // The loss of the writer's lease gives the acquire up: there is nothing to downgrade then.
  const std::stop_callback on_loss{acquire->held.lost(),
                                   [give_up = acquire->give_up] { give_up->request(); }};
  Result<Leases> reading = co_await create_beside(acquire);
  // Both nodes belong to one session, and the reader's node counts only if the writer's lease has
  // lasted until now.
  const bool lost = acquire->held.state() == LeaseState::lost;
  if (lost || reading.error() == Errc::session_lost) co_return Errc::lock_lost;
  co_return std::move(reading);
}

}  // namespace custodian::recipes_detail
