#include "nodes/node_claim.hpp"

#include "support/catch.hpp"

namespace custodian::tests::node_claim_test {
namespace {

using recipes_detail::next_node_step;
using recipes_detail::NodeClaim;
using recipes_detail::NodeOwner;
using recipes_detail::NodeStep;
using recipes_detail::NodeWish;
using recipes_detail::owner_of;

constexpr std::int64_t now = 7;
constexpr std::int64_t earlier = 5;
constexpr std::int64_t others = 9;

GetResult of_session(std::int64_t owner, std::string data = "d") {
  GetResult seen{.data = std::move(data)};
  seen.stat.ephemeral_owner = owner;
  return seen;
}
GetResult of_transaction(std::int64_t czxid, std::string data = "d", std::int32_t version = 0) {
  GetResult seen{.data = std::move(data)};
  seen.stat.czxid = czxid;
  seen.stat.version = version;
  return seen;
}

NodeClaim ephemeral() { return {.session = now, .sessions = {earlier}}; }
NodeClaim persistent() { return {.mode = CreateMode::persistent, .session = now, .czxid = 40}; }

TEST_CASE("node claim: an ephemeral node is known by its session", "[node_claim]") {
  CHECK(owner_of(of_session(now), ephemeral()) == NodeOwner::ours);
  CHECK(owner_of(of_session(earlier), ephemeral()) == NodeOwner::earlier_session);
  CHECK(owner_of(of_session(others), ephemeral()) == NodeOwner::foreign);
  CHECK(owner_of(of_session(0), ephemeral()) == NodeOwner::foreign);
}

TEST_CASE("node claim: an ephemeral node with a unique name is of this object at any time",
          "[node_claim]") {
  NodeClaim claim = ephemeral();
  claim.unique = true;
  CHECK(owner_of(of_session(now), claim) == NodeOwner::ours);
  CHECK(owner_of(of_session(others), claim) == NodeOwner::earlier_session);
}

TEST_CASE("node claim: a persistent node is known by the transaction that created it",
          "[node_claim]") {
  CHECK(owner_of(of_transaction(40, "other", 3), persistent()) == NodeOwner::ours);
  CHECK(owner_of(of_transaction(41), persistent()) == NodeOwner::foreign);
  NodeClaim none = persistent();
  none.czxid = 0;
  CHECK(owner_of(of_transaction(0), none) == NodeOwner::foreign);
  none.unique = true;
  CHECK(owner_of(of_transaction(41), none) == NodeOwner::ours);
}

TEST_CASE("node claim: after a lost reply a node counts that has the data and was never written",
          "[node_claim]") {
  NodeClaim claim = persistent();
  claim.doubtful = true;
  claim.created_with = "d";
  CHECK(owner_of(of_transaction(41), claim) == NodeOwner::ours);
  CHECK(owner_of(of_transaction(41, "e"), claim) == NodeOwner::foreign);
  CHECK(owner_of(of_transaction(41, "d", 1), claim) == NodeOwner::foreign);
}

NodeStep step(const GetResult& seen, const NodeClaim& claim,
              ForeignNode foreign = ForeignNode::waits, const NodeWish& wish = {.data = "d"},
              ForeignWrite writes = ForeignWrite::is_undone) {
  return next_node_step(seen, claim, wish, foreign, writes);
}

TEST_CASE("node claim: the own node is written if its data are not those that are wanted",
          "[node_claim]") {
  CHECK(step(of_session(now), ephemeral()) == NodeStep::rest);
  CHECK(step(of_session(now, "e"), ephemeral()) == NodeStep::write);
}

TEST_CASE("node claim: others' data are accepted only after the own ones were there",
          "[node_claim]") {
  const auto with = [](bool written) {
    return step(of_session(now, "e"), ephemeral(), ForeignNode::waits,
                {.data = "d", .written = written}, ForeignWrite::is_accepted);
  };
  CHECK(with(true) == NodeStep::rest);
  CHECK(with(false) == NodeStep::write);
  CHECK(step(of_session(now, "e"), ephemeral(), ForeignNode::waits,
             {.data = "d", .written = true}) == NodeStep::write);
}

TEST_CASE("node claim: a node of an earlier session is replaced, whatever happens to others'",
          "[node_claim]") {
  for (const auto foreign : {ForeignNode::waits, ForeignNode::is_taken_over, ForeignNode::fails}) {
    CHECK(step(of_session(earlier), ephemeral(), foreign) == NodeStep::replace);
  }
}

TEST_CASE("node claim: another's node is waited for, taken over, or an error", "[node_claim]") {
  CHECK(step(of_session(others), ephemeral()) == NodeStep::wait);
  CHECK(step(of_session(others), ephemeral(), ForeignNode::fails) == NodeStep::give_up);
  CHECK(step(of_session(others), ephemeral(), ForeignNode::is_taken_over) == NodeStep::replace);
  CHECK(step(of_transaction(41), persistent()) == NodeStep::wait);
  CHECK(step(of_transaction(41), persistent(), ForeignNode::fails) == NodeStep::give_up);
  // The node may have children, so it cannot be replaced.
  CHECK(step(of_transaction(41), persistent(), ForeignNode::is_taken_over) == NodeStep::adopt);
}

}  // namespace
}  // namespace custodian::tests::node_claim_test
