#pragma once

/// \file
/// The options of a client's operations.

#include <chrono>
#include <optional>

#include "custodian/acl.hpp"
#include "custodian/deadline.hpp"
#include "custodian/node.hpp"
#include "custodian/retry_policy.hpp"

namespace custodian {

/// The options that every operation has.
struct OperationOptions {
  /// When the operation gives up. Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// How a failed try is repeated. Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// A protected create puts `_c_<uuid>-` before the node's name, as Curator does. If the reply is
/// lost, the client finds the node by that prefix. The create leaves one node or, if it is given
/// up, none.
enum class Protection { none, by_unique_name };

/// What a create does if a parent is missing.
enum class Parents {
  /// The create fails with no_node.
  must_exist,
  /// Missing parents are created as containers, which the servers delete when they are empty.
  created_as_containers,
};

/// The options of a create.
struct CreateOptions {
  /// How long the node lives, and whether it is numbered.
  CreateMode mode = CreateMode::persistent;
  /// Whether the node can be found again when the reply to its create is lost.
  Protection protection = Protection::none;
  /// Whether missing parents are created.
  Parents parents = Parents::must_exist;
  /// The node's permissions. Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
  /// The time to live, for the modes with a TTL, and only for them: 1 ms to 2^40 - 1 ms.
  std::chrono::milliseconds ttl{0};
  /// When the operation gives up. Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// How a failed try is repeated. Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// The options of a write.
struct SetOptions {
  /// The required version: the operation fails with bad_version if the node has another.
  std::int32_t version = any_version;
  /// When the operation gives up. Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// How a failed try is repeated. Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// The options of Client::upsert(). All but the last two are for a new node: a node that exists
/// keeps its mode and its ACL.
struct UpsertOptions {
  /// How long a new node lives. Must be neither a sequential nor an ephemeral mode, since a node
  /// that exists may belong to another session. (`PersistentNode` keeps an ephemeral node with its
  /// data.)
  CreateMode mode = CreateMode::persistent;
  /// Whether missing parents are created.
  Parents parents = Parents::must_exist;
  /// A new node's permissions. Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
  /// The time to live, for the mode with a TTL, and only for it: 1 ms to 2^40 - 1 ms.
  std::chrono::milliseconds ttl{0};
  /// When the operation gives up. Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// How a failed try is repeated. Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// What a remove does if the node does not exist.
enum class Missing { is_an_error, is_fine };
/// What a remove does with children.
enum class Descendants { must_not_exist, are_removed };

/// The options of a remove.
struct RemoveOptions {
  /// The required version: the operation fails with bad_version if the node has another.
  std::int32_t version = any_version;
  /// With `is_fine`, a missing node is no error.
  Missing missing = Missing::is_an_error;
  /// With `are_removed`, the whole tree is removed, not atomically.
  Descendants descendants = Descendants::must_not_exist;
  /// When the operation gives up. Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// How a failed try is repeated. Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

}  // namespace custodian
