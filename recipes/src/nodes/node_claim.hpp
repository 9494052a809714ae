#pragma once

/// \file
/// The decisions of a persistent node: owner_of() finds out whose the node at the path is, and
/// next_node_step() what to do about it. Pure.

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
  foreign,          ///< created by anybody else, or it is unknown by whom
};

/// What is remembered of the creates of a persistent node, to recognise the node.
struct NodeClaim {
  /// Whether no other client creates nodes of this name.
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

/// The data that the node is to have.
struct NodeWish {
  std::string data{};
  /// Whether the servers had these data once.
  bool written = false;
};

enum class NodeStep : std::uint8_t {
  rest,     ///< the node is as it is to be: wait for a change
  write,    ///< the node is ours, but has other data: write them
  replace,  ///< delete the node and create it, in one transaction, so that it is never missing
  adopt,    ///< from now on the node is ours
  wait,     ///< the node is foreign: wait until it is gone
  give_up,  ///< the node is foreign: end with an error
};

[[nodiscard]] NodeStep next_node_step(const GetResult& seen, const NodeClaim& claim,
                                      const NodeWish& wish, ForeignNode foreign,
                                      ForeignWrite writes);

}  // namespace custodian::recipes_detail
