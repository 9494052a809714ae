#pragma once

/// \file
/// What each operation of a client may be told, and the compiled functions behind the templates in
/// client.hpp.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/retry_policy.hpp"
#include "custodian/transaction.hpp"
#include "custodian/watch.hpp"

namespace custodian {

/// What every operation may be told.
struct OperationOptions {
  /// Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// A protected create puts `_c_<uuid>-` before the node's name, as Curator does. When its reply is
/// lost it finds the node by that, and ends with one node or, given up, with none.
enum class Protection { none, by_unique_name };

/// What a create does about a parent that is missing.
enum class Parents {
  /// It fails with no_node.
  must_exist,
  /// Created as they are missed, as containers: they go when they are empty.
  created_as_containers,
};

/// What a create may be told.
struct CreateOptions {
  /// How long the node lives, and whether it is numbered.
  CreateMode mode = CreateMode::persistent;
  /// Whether it can be found again when the reply to its create is lost.
  Protection protection = Protection::none;
  /// What is done about missing parents.
  Parents parents = Parents::must_exist;
  /// Default: what the client's ACL provider says.
  std::optional<Acl> acl{};
  /// For the modes with a TTL, and only for them: 1 ms to 2^40 ms.
  std::chrono::milliseconds ttl{0};
  /// Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// What a write may be told.
struct SetOptions {
  /// bad_version if the node has another.
  std::int32_t version = any_version;
  /// Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

/// What a remove does about a node that is not there.
enum class Missing { is_an_error, is_fine };
/// What a remove does about children.
enum class Descendants { must_not_exist, are_removed };

/// What a remove may be told.
struct RemoveOptions {
  /// bad_version if the node has another.
  std::int32_t version = any_version;
  /// `is_fine`: quiet about a node that is not there.
  Missing missing = Missing::is_an_error;
  /// `are_removed`: the whole tree, not atomically.
  Descendants descendants = Descendants::must_not_exist;
  /// Default: `ClientOptions::operation_timeout` from the call.
  Deadline deadline{};
  /// Default: `ClientOptions::retry`.
  std::optional<RetryPolicy> retry{};
};

namespace detail {

using CorePtr = std::shared_ptr<ClientCore>;

// Throw Error(invalid_argument, ...), naming the argument and the rule.
CUSTODIAN_EXPORT void check_path(const CorePtr& core, std::string_view operation,
                                 std::string_view path);
// Also whether what a contender with this name and identity needs to say about itself would be
// accepted by the servers.
CUSTODIAN_EXPORT void check_contender(const CorePtr& core, std::string_view operation,
                                      std::string_view path, std::string_view name,
                                      std::string_view identity);
CUSTODIAN_EXPORT void check_create(const CorePtr& core, std::string_view path,
                                   std::string_view data, const CreateOptions& options);
CUSTODIAN_EXPORT void check_set(const CorePtr& core, std::string_view path, std::string_view data);
CUSTODIAN_EXPORT void check_remove(const CorePtr& core, std::string_view path,
                                   const RemoveOptions& options);
CUSTODIAN_EXPORT void check_commit(const CorePtr& core, const Transaction& transaction);

CUSTODIAN_EXPORT void start_create(CorePtr core, CancellationPtr cancellation, std::string path,
                                   std::string data, CreateOptions options,
                                   Handler<Created> handler);
CUSTODIAN_EXPORT void start_get(CorePtr core, CancellationPtr cancellation, std::string path,
                                OperationOptions options, Handler<GetResult> handler);
CUSTODIAN_EXPORT void start_set(CorePtr core, CancellationPtr cancellation, std::string path,
                                std::string data, SetOptions options, Handler<Stat> handler);
CUSTODIAN_EXPORT void start_remove(CorePtr core, CancellationPtr cancellation, std::string path,
                                   RemoveOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_exists(CorePtr core, CancellationPtr cancellation, std::string path,
                                   OperationOptions options, Handler<std::optional<Stat>> handler);
CUSTODIAN_EXPORT void start_children(CorePtr core, CancellationPtr cancellation, std::string path,
                                     OperationOptions options, Handler<Children> handler);
CUSTODIAN_EXPORT void start_get_acl(CorePtr core, CancellationPtr cancellation, std::string path,
                                    OperationOptions options, Handler<Acl> handler);
CUSTODIAN_EXPORT void start_set_acl(CorePtr core, CancellationPtr cancellation, std::string path,
                                    Acl acl, SetOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_sync(CorePtr core, CancellationPtr cancellation, std::string path,
                                 OperationOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_commit(CorePtr core, CancellationPtr cancellation,
                                   Transaction transaction, OperationOptions options,
                                   Handler<std::vector<TransactionResult>> handler);
CUSTODIAN_EXPORT void start_get_and_watch(CorePtr core, CancellationPtr cancellation,
                                          std::string path, OperationOptions options,
                                          Handler<GetResult, Watch> handler);
CUSTODIAN_EXPORT void start_exists_and_watch(CorePtr core, CancellationPtr cancellation,
                                             std::string path, OperationOptions options,
                                             Handler<std::optional<Stat>, Watch> handler);
CUSTODIAN_EXPORT void start_children_and_watch(CorePtr core, CancellationPtr cancellation,
                                               std::string path, OperationOptions options,
                                               Handler<Children, Watch> handler);
CUSTODIAN_EXPORT void start_wait_connected(CorePtr core, CancellationPtr cancellation,
                                           OperationOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_close(CorePtr core, CancellationPtr cancellation, Deadline deadline,
                                  Handler<bool> handler);
CUSTODIAN_EXPORT void start_wait_connection_state(CorePtr core, CancellationPtr cancellation,
                                                  ConnectionState known,
                                                  Handler<ConnectionState> handler);

using ServiceFactory = std::function<std::unique_ptr<Service>(boost::asio::any_io_executor strand)>;
CUSTODIAN_EXPORT Service& use_service(const CorePtr& core, std::type_index type,
                                      const ServiceFactory& make);

}  // namespace detail
}  // namespace custodian
