#pragma once

/// \file
/// A transaction is a list of operations that the servers apply all together or not at all:
/// `client.commit({...})`. Value types; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"

namespace custodian {

namespace transaction {
/// The operation of custodian::create().
struct Create {
  /// The path; of a sequential node, the part before the number.
  std::string path{};
  /// The node's data: any bytes.
  std::string data{};
  /// The mode of the node. Containers and modes with a TTL are refused.
  CreateMode mode = CreateMode::persistent;
  /// The node's permissions. Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
};
/// The operation of custodian::set().
struct Set {
  /// The node's path.
  std::string path{};
  /// The node's new data: any bytes.
  std::string data{};
  /// The required version: the transaction fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// The operation of custodian::remove().
struct Remove {
  /// The node's path.
  std::string path{};
  /// The required version: the transaction fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
/// The operation of custodian::check(), and of Lease::check().
struct Check {
  /// The node's path.
  std::string path{};
  /// The required version: the transaction fails with bad_version if the node has another.
  std::int32_t version = any_version;
};
}  // namespace transaction

/// One operation of a transaction.
using TransactionOperation =
    std::variant<transaction::Create, transaction::Set, transaction::Remove, transaction::Check>;
/// The operations of a transaction, in the order in which they are applied. An empty transaction is
/// refused.
using Transaction = std::vector<TransactionOperation>;

/// An operation that creates a node. Containers and modes with a TTL are refused: the C client
/// cannot create such nodes in a transaction.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation create(std::string path, std::string data = {},
                                                           CreateMode mode = CreateMode::persistent,
                                                           std::optional<Acl> acl = std::nullopt);
/// An operation that writes a node's data. The transaction fails unless the node has this version.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation set(std::string path, std::string data,
                                                        std::int32_t version = any_version);
/// An operation that removes a node without children. The transaction fails unless the node has
/// this version.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation remove(std::string path,
                                                           std::int32_t version = any_version);
/// An operation that changes nothing. The transaction fails unless the node exists and has this
/// version.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation check(std::string path,
                                                          std::int32_t version = any_version);

/// The result of one operation of a transaction.
struct TransactionResult {
  /// Set only if the transaction failed. The operation that made it fail has its own error; every
  /// other operation has `ServerErrc::runtime_inconsistency` or no error.
  error_code error{};
  /// After a create: the node's final path.
  std::string path{};
  /// After a set: the node's metadata.
  Stat stat{};
};

}  // namespace custodian
