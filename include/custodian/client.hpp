#pragma once

/// \file
/// A ZooKeeper client: operations with retries and deadlines, watches, transactions, and the state
/// of its connection. Recipes (locks, leader election) are built on it alone.
///
/// When not to use it: as a database. ZooKeeper keeps small things that change seldom and must be
/// right.
///
/// Threads: every function may be called from any thread, except the destructor and moves.
///
/// Every operation has two forms. `async_xxx(..., token)` takes any Asio completion token. Its
/// handler runs on its own executor, or else on the client's callback executor; never inside the
/// call, and never on the client's strand. `xxx(...)` blocks and throws `Error`. On a thread that
/// runs the client, `xxx(...)` would wait for itself, so it throws at once (would_deadlock).
/// Mistakes in the arguments throw at once in both forms, before anything is sent
/// (invalid_argument).
///
/// Cancellation (total, partial, terminal alike): the operation completes with operation_aborted. A
/// request that was sent by then may still be applied.
///
/// Deadlines: an operation that is given no deadline ends `ClientOptions::operation_timeout` after
/// the call. A deadline covers the wait for a connection, the retries, and the pauses before them.
///
/// Errors common to all operations: not_connected (if the operation does not wait for a
/// connection), deadline_exceeded, deadline_exceeded_outcome_unknown, connection_loss (the outcome
/// is unknown and must not be guessed), session_lost, closed, forked, and the server's own errors.
///
/// Retries: reads are repeated. Writes are repeated only when it is certain that they were not
/// applied; the client finds out by itself whether a protected create, or the create of an upsert,
/// was applied.
/// fork(): see README.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/client_options.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/retry_policy.hpp"
#include "custodian/session/session.hpp"
#include "custodian/transaction.hpp"
#include "custodian/watch.hpp"

namespace custodian {

/// A connection to ZooKeeper, its sessions, and all operations on them. Move-only; see share(). A
/// `const Client` can read (get, exists, children, waits, listeners) and make locks; writing nodes
/// needs a non-const one. \copydetails custodian/client.hpp
class CUSTODIAN_EXPORT Client {
 public:
  /// Makes a client with threads of its own: one for I/O, one for callbacks. It begins to connect
  /// at once, in the background. Throws Error if the connection string is wrong.
  explicit Client(std::string_view servers);
  /// Makes a client with threads of its own, and with these options. Throws Error
  /// (invalid_argument) if an option is wrong.
  explicit Client(ClientOptions options);
  /// Makes a client on the program's own executor. The program must run the executor's context,
  /// which must outlive the client. Callbacks run there, too, unless the options name another
  /// executor. An open client is work for the context: io_context::run() returns only after
  /// close(), or after the client's destruction. Throws Error (invalid_argument) if an option is
  /// wrong.
  Client(boost::asio::any_io_executor executor, ClientOptions options);
  /// A moved-from client may only be destroyed.
  Client(Client&&) noexcept = default;
  Client& operator=(Client&&) = delete;
  /// Ends the session, so that its locks pass on at once; does nothing for a handle from share().
  /// If the client has threads of its own, the destructor waits until the message for that is sent,
  /// one second at most, and the log sink is not called afterwards, whatever objects outlive the
  /// client. If the client runs on the program's executor, or is destroyed in one of its own
  /// callbacks, the destructor only begins to send the message.
  ~Client();

  /// Makes another handle on the same client, for recipes to keep. The handle does not own the
  /// client and can outlive the owner; its operations then fail (closed).
  [[nodiscard]] Client share() const;

  /// Makes another handle on the same client, whose paths are below `name_space`, as if that were
  /// `ClientOptions::name_space`. As in Curator (`usingNamespace()`), `name_space` replaces the
  /// client's own namespace, and is not put below it; the chroot of the servers stays in front.
  /// "app" and "/app" are the same; "" or "/" is no namespace. A namespace below this handle's:
  /// `client.with_namespace(client.name_space() + "/sub")`.
  ///
  /// The session and all else are the same client's: close() closes it, and the handle does not own
  /// it (see share()). Recipes that are made of the handle keep the namespace. If a path of one
  /// namespace and a path of another are the same node, the recipes at these paths treat each other
  /// as recipes of two clients. Errors and log lines have the paths of the handle, but lines about
  /// nodes that the client deletes in the background have the path on the server. The observer and
  /// the ACL provider belong to the client: they get paths below the client's own namespace, and
  /// for a node outside it the path on the server.
  ///
  /// Not for a new namespace with each request: the client keeps every namespace that it was asked
  /// for, with the services of the recipes there, until the client ends. Any thread. Throws Error:
  /// invalid_argument for a wrong namespace; forked.
  [[nodiscard]] Client with_namespace(std::string_view name_space) const;
  /// The namespace of this handle: empty, or with a slash in front.
  [[nodiscard]] const std::string& name_space() const noexcept;

  /// \name Nodes
  /// \{

  /// Creates a node. Completes with the node's final path and metadata.
  /// Errors: node_exists, no_node (no parent), no_auth, no_children_for_ephemerals, unimplemented.
  template <typename Token>
  auto async_create(std::string path, std::string data, CreateOptions options, Token&& token) {
    check_create(core_, path, data, options);
    return initiate<void(error_code, Created), &start_create>(
        core_, std::forward<Token>(token), std::move(path), std::move(data), std::move(options));
  }
  /// The blocking form of async_create(). Throws Error.
  Created create(std::string path, std::string data = {}, CreateOptions options = {});

  /// Reads a node. Errors: no_node, no_auth.
  template <typename Token>
  auto async_get(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get", path);
    return initiate<void(error_code, GetResult), &start_get>(core_, std::forward<Token>(token),
                                                             std::move(path), options);
  }
  /// The blocking form of async_get(). Throws Error.
  GetResult get(std::string path, OperationOptions options = {}) const;

  /// Writes a node. Errors: no_node, bad_version, no_auth.
  template <typename Token>
  auto async_set(std::string path, std::string data, SetOptions options, Token&& token) {
    check_set(core_, path, data);
    return initiate<void(error_code, Stat), &start_set>(core_, std::forward<Token>(token),
                                                        std::move(path), std::move(data), options);
  }
  /// The blocking form of async_set(). Throws Error.
  Stat set(std::string path, std::string data, SetOptions options = {});

  /// Writes a node, or creates it if it does not exist: Curator's `orSetData()`. Completes with the
  /// metadata, and whether the node was created. One request for a node that exists, two for a new
  /// one. Between these requests, another process may create the node, which is then written, or
  /// remove the node, which is then created.
  ///
  /// When not to use it: where the new data depend on the old ones, or several processes write one
  /// node: the last one wins. Then read, and set() with a version.
  ///
  /// If the reply to the create is lost, the client repeats the create. If the node exists then,
  /// the client reads it: the node counts as created by this operation if it has these data and was
  /// never written. (A node that another process has created with the same data counts, too.)
  /// Otherwise, and if the reply to the write is lost, the outcome is unknown (connection_loss).
  /// Errors: no_node (no parent), no_auth, no_children_for_ephemerals, unimplemented.
  template <typename Token>
  auto async_upsert(std::string path, std::string data, UpsertOptions options, Token&& token) {
    check_upsert(core_, path, data, options);
    return initiate<void(error_code, Upserted), &start_upsert>(
        core_, std::forward<Token>(token), std::move(path), std::move(data), std::move(options));
  }
  /// The blocking form of async_upsert(). Throws Error.
  Upserted upsert(std::string path, std::string data, UpsertOptions options = {});

  /// Removes a node. Errors: no_node (unless `Missing::is_fine`), bad_version, not_empty, no_auth.
  template <typename Token>
  auto async_remove(std::string path, RemoveOptions options, Token&& token) {
    check_remove(core_, path, options);
    return initiate<void(error_code), &start_remove>(core_, std::forward<Token>(token),
                                                     std::move(path), options);
  }
  /// The blocking form of async_remove(). Throws Error.
  void remove(std::string path, RemoveOptions options = {});

  /// Removes a node in the background: repeats the delete until the node is gone, the session that
  /// owns it is over, or the servers forbid the delete (then the client ends the session, since
  /// nothing else can remove the node). After a reconnection, these deletes are sent first. Only
  /// for ephemeral nodes with unique names: another node of the same name would be removed, too.
  /// Does not throw, not even when the client is closed.
  void remove_in_background(std::string path) noexcept;

  /// Looks whether a node exists. Completes with its metadata, or with nothing if it does not
  /// exist.
  template <typename Token>
  auto async_exists(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "exists", path);
    return initiate<void(error_code, std::optional<Stat>), &start_exists>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The blocking form of async_exists(). Throws Error.
  std::optional<Stat> exists(std::string path, OperationOptions options = {}) const;

  /// Lists the names of a node's children. Errors: no_node, no_auth.
  template <typename Token>
  auto async_children(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "children", path);
    return initiate<void(error_code, Children), &start_children>(core_, std::forward<Token>(token),
                                                                 std::move(path), options);
  }
  /// The blocking form of async_children(). Throws Error.
  Children children(std::string path, OperationOptions options = {}) const;

  /// Reads a node's ACL. Errors: no_node, no_auth.
  template <typename Token>
  auto async_get_acl(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get_acl", path);
    return initiate<void(error_code, Acl), &start_get_acl>(core_, std::forward<Token>(token),
                                                           std::move(path), options);
  }
  /// The blocking form of async_get_acl(). Throws Error.
  Acl get_acl(std::string path, OperationOptions options = {}) const;

  /// Replaces a node's ACL. Errors: no_node, bad_version (of the ACL), invalid_acl, no_auth.
  template <typename Token>
  auto async_set_acl(std::string path, Acl acl, SetOptions options, Token&& token) {
    check_path(core_, "set_acl", path);
    return initiate<void(error_code), &start_set_acl>(core_, std::forward<Token>(token),
                                                      std::move(path), std::move(acl), options);
  }
  /// The blocking form of async_set_acl(). Throws Error.
  void set_acl(std::string path, Acl acl, SetOptions options = {});

  /// Waits until the connected server has caught up with the leader's changes of this path. Does
  /// not prove that the leader still leads.
  template <typename Token>
  auto async_sync(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "sync", path);
    return initiate<void(error_code), &start_sync>(core_, std::forward<Token>(token),
                                                   std::move(path), options);
  }
  /// The blocking form of async_sync(). Throws Error.
  void sync(std::string path, OperationOptions options = {}) const;

  /// Applies all operations of a transaction, or none. Completes with the error of the first
  /// operation that failed, and with the result of each operation. A transaction whose reply is
  /// lost is not repeated.
  template <typename Token>
  auto async_commit(Transaction transaction, OperationOptions options, Token&& token) {
    check_commit(core_, transaction);
    return initiate<void(error_code, std::vector<TransactionResult>), &start_commit>(
        core_, std::forward<Token>(token), std::move(transaction), options);
  }
  /// The blocking form of async_commit(). Throws Error. If the servers refused an operation, the
  /// error's path() is the path of that operation. If the transaction has a lease's check() and the
  /// lock is lost, path() is that of the check(), and the code is no_node.
  std::vector<TransactionResult> commit(Transaction transaction, OperationOptions options = {});
  /// \}

  /// \name Watches
  /// \{

  /// Reads a node and watches it: the watch ends when the data change next, or the node is deleted.
  template <typename Token>
  auto async_get_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get", path);
    return initiate<void(error_code, GetResult, Watch), &start_get_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The blocking form of async_get_and_watch(). Throws Error.
  std::pair<GetResult, Watch> get_and_watch(std::string path, OperationOptions options = {}) const;

  /// Reads the metadata of a node that need not exist, and watches it: the watch ends when the node
  /// is created or deleted, or its data change next. Beware of watching a node that is gone for
  /// good, a sequential one for instance: the watch then stays on the server until the Watch is
  /// destroyed.
  template <typename Token>
  auto async_exists_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "exists", path);
    return initiate<void(error_code, std::optional<Stat>, Watch), &start_exists_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The blocking form of async_exists_and_watch(). Throws Error.
  std::pair<std::optional<Stat>, Watch> exists_and_watch(std::string path,
                                                         OperationOptions options = {}) const;

  /// Lists a node's children and watches the list: the watch ends when a child is created or
  /// deleted next, or the node is deleted.
  template <typename Token>
  auto async_children_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "children", path);
    return initiate<void(error_code, Children, Watch), &start_children_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The blocking form of async_children_and_watch(). Throws Error.
  std::pair<Children, Watch> children_and_watch(std::string path,
                                                OperationOptions options = {}) const;
  /// \}

  /// \name Connection
  /// \{

  /// The present state of the connection, which may have changed by the time the caller gets it.
  /// Any thread.
  [[nodiscard]] ConnectionState connection_state() const;
  /// Calls the listener at every later change of the connection's state. The listener is kept until
  /// the subscription is destroyed.
  [[nodiscard]] Subscription on_connection_state(ConnectionListener listener) const;

  /// Waits until the connection's state differs from `known`; completes at once if it does already.
  /// Completes with: error, the state (`known` if the wait was aborted, or the client is closed).
  /// Cancellation: total.
  /// Errors: operation_aborted; forked; closed, if `known` is `closed` and the state is, too.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_connection_state(ConnectionState known, Token&& token) const {
    return initiate<void(error_code, ConnectionState), &start_wait_connection_state>(
        core_, std::forward<Token>(token), known);
  }

  /// Waits for a connection; completes at once if there is one.
  template <typename Token>
  auto async_wait_connected(OperationOptions options, Token&& token) const {
    return initiate<void(error_code), &start_wait_connected>(core_, std::forward<Token>(token),
                                                             options);
  }
  /// The blocking form of async_wait_connected(). Throws Error.
  void wait_connected(OperationOptions options = {}) const;

  /// The facts about the present session; the id is 0 if there is none.
  [[nodiscard]] SessionInfo session() const;

  /// Replaces the servers; throws Error if the list is wrong or has a chroot, or asks for TLS where
  /// the client has none. A client that has TLS keeps it. The session goes on. With
  /// `ClientOptions::follow_ensemble`, the ensemble's other members stay in the list.
  void set_servers(std::string_view servers);

  /// Replaces `ClientOptions::credentials`, for a rotation without a restart: docs/operating.md has
  /// the steps. The session goes on, with the leases on it. Returns at once; of several calls the
  /// newest counts. Does nothing once the client is closed. Any thread. Throws Error: forked;
  /// invalid_argument for credentials that the constructor would refuse.
  ///
  /// New credentials: the client first presents them to the servers on a short session beside its
  /// own. Then it presents them on the present connection, or else on the next one, and logs that
  /// (`LogLevel::info`). A request that needs the new credentials, but is sent before they were
  /// presented, fails (no_auth). If the servers refuse the new credentials, the client logs that
  /// (`LogLevel::error`) and goes on with the earlier credentials: nothing is lost. Servers refuse
  /// an unknown scheme. They accept a `digest` with a wrong password: to the servers, that is
  /// another user.
  ///
  /// Earlier credentials: a session cannot take back credentials that it has presented. So the
  /// present session has their permissions until it ends, and nodes that it creates with
  /// creator_all_acl() are open to all credentials that it has presented. Later sessions present
  /// only the new ones.
  ///
  /// Without a session, as after auth_failed, a new session with the new credentials begins at
  /// once.
  ///
  /// With `ClientOptions::credentials_provider`, the next answer of the provider replaces them.
  void set_credentials(const std::vector<ClientOptions::Credential>& credentials);

  /// Ends the session, and waits until the message for that is sent, one second at most. Operations
  /// under way fail (closed), leases are lost, watches end. On a thread that runs the client, this
  /// function does not wait; if no thread runs the client's executor, it waits only a tenth of a
  /// second. A second call does nothing.
  void close();
  /// Closes the client in an orderly way: refuses new acquires, ends those that wait, and closes
  /// when the last lease has been released, at the deadline, or when another call closes the
  /// client. Returns false if a lease was still held at that moment.
  bool close(Deadline deadline);
  /// The asynchronous form of close(deadline), for a program that runs the client on its own
  /// executor.
  /// Completes with: error, whether all leases were released in time.
  /// Cancellation: total; the client stays open then, and goes on refusing new acquires.
  /// Errors: operation_aborted, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_close(Deadline deadline, Token&& token) {
    return initiate<void(error_code, bool), &start_close>(core_, std::forward<Token>(token),
                                                          deadline);
  }

  /// How many locks this client keeps at the moment without a holder: see
  /// `LockOptions::keep_idle_for`.
  [[nodiscard]] std::size_t kept_locks() const noexcept;
  /// Gives all kept locks back, in the background: kept_locks() may count them for a moment longer.
  /// For a process that will not want the locks again soon. Locks that are held stay held, and may
  /// be kept later. Any thread.
  void release_kept_locks();

  /// The strand that recipes run on. Post nothing to it that may block.
  [[nodiscard]] boost::asio::any_io_executor get_executor() const;
  /// The client's identity: `ClientOptions::identity`, or its default.
  [[nodiscard]] const std::string& identity() const;
  /// The value of `ClientOptions::fencing_epoch`.
  [[nodiscard]] std::int64_t fencing_epoch() const noexcept;
  /// The value of `ClientOptions::max_kept_locks`.
  [[nodiscard]] std::size_t max_kept_locks() const noexcept;
  /// The value of `ClientOptions::retry`.
  [[nodiscard]] const RetryPolicy& retry_policy() const;
  /// Returns `deadline`, or `ClientOptions::operation_timeout` from now if `deadline` is a default
  /// one.
  [[nodiscard]] Deadline deadline_or_default(Deadline deadline) const;
  /// Why this client accepts nothing new: closed (also while close(deadline) waits for leases), or
  /// forked. No error if the client is usable.
  [[nodiscard]] error_code unusable() const noexcept;
  /// Writes a line through the client's log sink: for authors of recipes.
  void log(LogLevel level, std::string message) const;
  /// The number of operations without a reply, and of watches: for tests which check that nothing
  /// is left over. Blocks until the client's strand has answered.
  [[nodiscard]] Session::Load load() const;

  /// The client's only object of type `T`, made at the first call. Like `asio::use_service`, but
  /// each client has an object of its own, and so has each namespace of a client
  /// (with_namespace()).
  template <typename T>
  T& use_service() {
    return static_cast<T&>(custodian::use_service(
        core_, typeid(T), [](boost::asio::any_io_executor strand) -> std::unique_ptr<Service> {
          return std::make_unique<T>(std::move(strand));
        }));
  }

  /// For authors of recipes: the argument `core` of initiate() and block().
  [[nodiscard]] const CorePtr& core() const noexcept { return core_; }
  /// For authors of recipes: the executor for calls of user code, such as a position callback.
  [[nodiscard]] boost::asio::any_io_executor callback_executor() const;
  /// \}

 private:
  struct Runtime;
  Client(CorePtr core, std::shared_ptr<Runtime> runtime);

  CorePtr core_;
  /// The client's own threads; null if it has none.
  std::shared_ptr<Runtime> runtime_;
  bool owner_ = false;
};

}  // namespace custodian
