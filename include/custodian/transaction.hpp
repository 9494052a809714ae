#pragma once

/// \file
/// A transaction has operations that a server applies all together or not at all:
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
  /// Any bytes.
  std::string data{};
  /// Any mode without a TTL.
  CreateMode mode = CreateMode::persistent;
  /// Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
};
/// The operation of custodian::set().
struct Set {
  /// The node's path.
  std::string path{};
  /// Any bytes.
  std::string data{};
  /// The transaction fails with bad_version if the node has another version.
  std::int32_t version = any_version;
};
/// The operation of custodian::remove().
struct Remove {
  /// The node's path.
  std::string path{};
  /// The transaction fails with bad_version if the node has another version.
  std::int32_t version = any_version;
};
/// The operation of custodian::check(), and of Lease::check().
struct Check {
  /// The node's path.
  std::string path{};
  /// The transaction fails with bad_version if the node has another version.
  std::int32_t version = any_version;
};
}  // namespace transaction

/// One operation of a transaction.
using TransactionOperation =
    std::variant<transaction::Create, transaction::Set, transaction::Remove, transaction::Check>;
/// Operations in the order in which they are applied. An empty transaction is refused.
using Transaction = std::vector<TransactionOperation>;

/// Creates a node. TTL modes are refused: the C client cannot put them into a transaction.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation create(std::string path, std::string data = {},
                                                           CreateMode mode = CreateMode::persistent,
                                                           std::optional<Acl> acl = std::nullopt);
/// Sets a node's data, if the node has this version.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation set(std::string path, std::string data,
                                                        std::int32_t version = any_version);
/// Removes a node without children, if the node has this version.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation remove(std::string path,
                                                           std::int32_t version = any_version);
/// Passes if the node exists and has this version; changes nothing.
[[nodiscard]] CUSTODIAN_EXPORT TransactionOperation check(std::string path,
                                                          std::int32_t version = any_version);

/// The result of one operation of a transaction.
struct TransactionResult {
  /// If the transaction failed: the operation's own error if it made the transaction fail,
  /// otherwise `ServerErrc::runtime_inconsistency` or no error.
  error_code error{};
  /// The final path of a created node.
  std::string path{};
  /// The node's metadata after a set.
  Stat stat{};
};

}  // namespace custodian
