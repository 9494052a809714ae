#include "nodes/node_claim.hpp"

namespace custodian::recipes_detail {

namespace {

NodeOwner owner_of_ephemeral(const Stat& stat, const NodeClaim& claim) {
  if (stat.ephemeral_owner == claim.session) return NodeOwner::ours;
  if (claim.unique || claim.sessions.contains(stat.ephemeral_owner)) {
    return NodeOwner::earlier_session;
  }
  return NodeOwner::foreign;
}

bool may_be_the_doubtful_one(const GetResult& seen, const NodeClaim& claim) {
  return claim.doubtful && seen.stat.version == 0 && seen.data == claim.created_with;
}

}  // namespace

NodeOwner owner_of(const GetResult& seen, const NodeClaim& claim) {
  if (is_ephemeral(claim.mode)) return owner_of_ephemeral(seen.stat, claim);
  const bool ours = claim.unique || (claim.czxid != 0 && seen.stat.czxid == claim.czxid) ||
                    may_be_the_doubtful_one(seen, claim);
  return ours ? NodeOwner::ours : NodeOwner::foreign;
}

NodeStep next_node_step(const GetResult& seen, const NodeClaim& claim, const NodeWish& wish,
                        ForeignNode foreign, ForeignWrite writes) {
  switch (owner_of(seen, claim)) {
    case NodeOwner::ours: {
      const bool as_wished = seen.data == wish.data;
      const bool accepted = wish.written && writes == ForeignWrite::is_accepted;
      return as_wished || accepted ? NodeStep::rest : NodeStep::write;
    }
    case NodeOwner::earlier_session: return NodeStep::replace;
    case NodeOwner::foreign: break;
  }
  switch (foreign) {
    case ForeignNode::waits: return NodeStep::wait;
    case ForeignNode::fails: return NodeStep::give_up;
    case ForeignNode::is_taken_over: break;
  }
  // A node without a session may have children, so it is adopted, and not replaced.
  return is_ephemeral(claim.mode) ? NodeStep::replace : NodeStep::adopt;
}

}  // namespace custodian::recipes_detail
