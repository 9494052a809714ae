#pragma once

/// \file
/// These functions start the client's operations, for authors of recipes, by way of `initiate`,
/// `await` and `block`.
///
/// `co_await await<&start_get, GetResult>(core, cancellation, path, options)` in a coroutine on the
/// strand does what `client.async_get(path, options, token)` does elsewhere: the requests, retries
/// and errors are the same. An operation with a null cancellation cannot be cancelled. Call the
/// functions on any thread. The handler runs on the strand; but within the call in the child of a
/// fork, and after an exception of the ACL provider. The functions do not check their arguments:
/// call the functions of argument_checks.hpp first, in the caller's thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/operation_options.hpp"
#include "custodian/transaction.hpp"
#include "custodian/watch.hpp"

namespace custodian {

/// Starts the operation of Client::async_create().
CUSTODIAN_EXPORT void start_create(CorePtr core, CancellationPtr cancellation, std::string path,
                                   std::string data, CreateOptions options,
                                   Handler<Created> handler);
/// Starts the operation of Client::async_get().
CUSTODIAN_EXPORT void start_get(CorePtr core, CancellationPtr cancellation, std::string path,
                                OperationOptions options, Handler<GetResult> handler);
/// Starts the operation of Client::async_set().
CUSTODIAN_EXPORT void start_set(CorePtr core, CancellationPtr cancellation, std::string path,
                                std::string data, SetOptions options, Handler<Stat> handler);
/// Starts the operation of Client::async_upsert().
CUSTODIAN_EXPORT void start_upsert(CorePtr core, CancellationPtr cancellation, std::string path,
                                   std::string data, UpsertOptions options,
                                   Handler<Upserted> handler);
/// Starts the operation of Client::async_remove().
CUSTODIAN_EXPORT void start_remove(CorePtr core, CancellationPtr cancellation, std::string path,
                                   RemoveOptions options, Handler<> handler);
/// Starts the operation of Client::async_exists().
CUSTODIAN_EXPORT void start_exists(CorePtr core, CancellationPtr cancellation, std::string path,
                                   OperationOptions options, Handler<std::optional<Stat>> handler);
/// Starts the operation of Client::async_children().
CUSTODIAN_EXPORT void start_children(CorePtr core, CancellationPtr cancellation, std::string path,
                                     OperationOptions options, Handler<Children> handler);
/// Starts the operation of Client::async_get_acl().
CUSTODIAN_EXPORT void start_get_acl(CorePtr core, CancellationPtr cancellation, std::string path,
                                    OperationOptions options, Handler<Acl> handler);
/// Starts the operation of Client::async_set_acl().
CUSTODIAN_EXPORT void start_set_acl(CorePtr core, CancellationPtr cancellation, std::string path,
                                    Acl acl, SetOptions options, Handler<> handler);
/// Starts the operation of Client::async_sync().
CUSTODIAN_EXPORT void start_sync(CorePtr core, CancellationPtr cancellation, std::string path,
                                 OperationOptions options, Handler<> handler);
/// Starts the operation of Client::async_commit().
CUSTODIAN_EXPORT void start_commit(CorePtr core, CancellationPtr cancellation,
                                   Transaction transaction, OperationOptions options,
                                   Handler<std::vector<TransactionResult>> handler);
/// Starts the operation of Client::async_get_and_watch().
CUSTODIAN_EXPORT void start_get_and_watch(CorePtr core, CancellationPtr cancellation,
                                          std::string path, OperationOptions options,
                                          Handler<GetResult, Watch> handler);
/// Starts the operation of Client::async_exists_and_watch().
CUSTODIAN_EXPORT void start_exists_and_watch(CorePtr core, CancellationPtr cancellation,
                                             std::string path, OperationOptions options,
                                             Handler<std::optional<Stat>, Watch> handler);
/// Starts the operation of Client::async_children_and_watch().
CUSTODIAN_EXPORT void start_children_and_watch(CorePtr core, CancellationPtr cancellation,
                                               std::string path, OperationOptions options,
                                               Handler<Children, Watch> handler);
/// Starts the operation of Client::async_wait_connected().
CUSTODIAN_EXPORT void start_wait_connected(CorePtr core, CancellationPtr cancellation,
                                           OperationOptions options, Handler<> handler);
/// Starts the operation of Client::async_close().
CUSTODIAN_EXPORT void start_close(CorePtr core, CancellationPtr cancellation, Deadline deadline,
                                  Handler<bool> handler);
/// Starts the operation of Client::async_wait_connection_state().
CUSTODIAN_EXPORT void start_wait_connection_state(CorePtr core, CancellationPtr cancellation,
                                                  ConnectionState known,
                                                  Handler<ConnectionState> handler);

/// The client without Client::with_namespace(): for a service that all namespaces of a client
/// share.
[[nodiscard]] CUSTODIAN_EXPORT CorePtr own_core(const CorePtr& core);

/// Makes a service that works on the client's strand.
using ServiceFactory = std::function<std::unique_ptr<Service>(boost::asio::any_io_executor strand)>;
/// The only service of this type that the client has in this namespace; `make` makes it at the
/// first call. See Client::use_service().
CUSTODIAN_EXPORT Service& use_service(const CorePtr& core, std::type_index type,
                                      const ServiceFactory& make);

}  // namespace custodian
