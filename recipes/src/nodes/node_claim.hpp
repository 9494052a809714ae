#pragma once

/// \file
/// NodeClaim says whose a node is, and next_node_step() what follows from the sight of it: the
/// decisions of a persistent node. Pure.

#include <cstdint>
#include <set>
#include <string>

#include "custodian/node.hpp"
#include "custodian/nodes/persistent_node_options.hpp"

namespace custodian::recipes_detail {

/// Whose the node at the path is.
enum class NodeOwner : std::uint8_t {
  ours,             ///< this object has created it, in the present session if it is ephemeral
  earlier_session,  ///< an earlier session of this client owns it: the servers will delete it
  foreign,          ///< anybody else, or nobody knows
};

/// What a persistent node has created, and is still to be found.
struct NodeClaim {
  /// Whether nobody else creates nodes of this name.
  bool unique = false;
  CreateMode mode = CreateMode::ephemeral;
  /// The client's present session.
  std::int64_t session = 0;
  /// The sessions in which the node was created, or may have been.
  std::set<std::int64_t> sessions{};
  /// The transaction that created the node; 0 if there was none, or its reply was lost.
  std::int64_t czxid = 0;
  /// Whether the reply to a create was lost.
  bool doubtful = false;
  /// The data of the last create.
  std::string created_with{};
};

/// An ephemeral node is known by the session that owns it. A persistent one is known by the
/// transaction that created it; if that reply was lost, a node that was never written and has the
/// data of the create counts as the created one.
[[nodiscard]] NodeOwner owner_of(const GetResult& seen, const NodeClaim& claim);

/// The data that the node shall have.
struct NodeWish {
  std::string data{};
  /// Whether the servers had these data once.
  bool written = false;
};

enum class NodeStep : std::uint8_t {
  rest,     ///< the node is as it shall be: wait for a change
  write,    ///< the node is ours, and its data are not those that it shall have
  replace,  ///< delete the node and create it, in one transaction: so nobody sees it missing
  adopt,    ///< from now on the node is ours
  wait,     ///< the node is another's: wait until it is gone
  give_up,  ///< the node is another's: end with an error
};

[[nodiscard]] NodeStep next_node_step(const GetResult& seen, const NodeClaim& claim,
                                      const NodeWish& wish, ForeignNode foreign,
                                      ForeignWrite writes);

}  // namespace custodian::recipes_detail
