#pragma once

/// \file
/// The options and the states of a PersistentNode. Value types.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "custodian/acl.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

/// What a PersistentNode does if there is a node at its path that it has not created: another
/// process's, or one of an earlier run of this program. (A node of an earlier session of its own
/// client is always replaced.)
enum class ForeignNode : std::uint8_t {
  /// The object waits until the node is gone, and creates its own then.
  waits,
  /// The object takes the path over. An ephemeral node is replaced in one transaction, so that
  /// nobody sees it missing; a node that no session owns stays, and gets the object's data. Only
  /// one program may use such a path: two would take it over from each other for ever, with the
  /// pauses of their clients' retry policies.
  is_taken_over,
  /// The object gives up, with `node_exists`.
  fails,
};

/// What a PersistentNode does if somebody else writes its node.
enum class ForeignWrite : std::uint8_t {
  is_undone,    ///< the object writes its data again
  is_accepted,  ///< the data stay until the next set_data(), or until the node is created anew
};

/// The options of a PersistentNode.
struct PersistentNodeOptions {
  /// How long the node lives without the object, and whether it is numbered. A sequential node is
  /// numbered once: it is created again under the same name.
  CreateMode mode = CreateMode::ephemeral;
  /// Whether the name gets a unique prefix, as `Protection` says. Sequential nodes always have it.
  Protection protection = Protection::none;
  /// Whether missing parents are created.
  Parents parents = Parents::created_as_containers;
  /// The node's permissions. Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
  /// The time to live, for the modes with a TTL, and only for them. The object writes a child of
  /// the node, `touch`, twice in that time: so the servers delete the node only after the end of
  /// its process, as with Curator's PersistentTtlNode.
  std::chrono::milliseconds ttl{0};
  /// What happens if the path is taken.
  ForeignNode foreign_node = ForeignNode::waits;
  /// What happens if another client writes the node.
  ForeignWrite foreign_write = ForeignWrite::is_undone;
};

/// What is known of a PersistentNode's node.
enum class PersistentNodeState : std::uint8_t {
  /// The node is not there, or not yet: it is being created, or the client has no session.
  absent,
  /// The node is there. Its newest data may not be written yet. While the connection is interrupted
  /// the state stays, as long as the session may be alive.
  present,
  /// There is a foreign node at the path (`node_exists`).
  taken,
  /// The servers refuse a request, no_auth or no_node for example: it is repeated, with the pauses
  /// of the client's retry policy.
  refused,
  /// The object or its client is closed, or the object has given up.
  closed,
};

/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(PersistentNodeState state) noexcept;

}  // namespace custodian
