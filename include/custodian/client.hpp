#pragma once

/// \file
/// A ZooKeeper client: operations with retries and deadlines, watches, transactions, and the state
/// of its connection. Recipes (locks, leader election) are built on it alone.
///
/// When not to use it: for data. ZooKeeper keeps small things that change seldom and must be right.
///
/// Threads: every function may be called from any thread, but for the destructor and moves.
///
/// Every operation has two forms. `async_xxx(..., token)` takes any Asio completion token. Its
/// handler runs on its own executor, or else on the client's callback executor; never inside the
/// call, and never on the client's strand. `xxx(...)` blocks and throws `Error`; on a thread that
/// it would wait for it throws at once (would_deadlock). Mistakes in the arguments throw at once in
/// both forms, before anything is sent (invalid_argument).
///
/// Cancellation (total, partial, terminal alike): the operation completes with operation_aborted.
/// If it was sent by then, it may still be applied.
///
/// Deadlines: without one, `ClientOptions::operation_timeout` from the call. They cover waiting for
/// a connection, retries and pauses.
///
/// Errors common to all: not_connected (told not to wait for a connection), deadline_exceeded,
/// deadline_exceeded_outcome_unknown, connection_loss (the outcome is unknown and must not be
/// guessed), session_lost, closed, forked, and what the server says.
///
/// Retries: reads are repeated. Writes are repeated only when it is certain that they were not
/// applied; a protected create finds out by itself what became of it. fork(): see README.

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

/// A connection to ZooKeeper, its sessions, and all that is done with them. Move-only; see share().
/// A `const Client` can look (get, exists, children, waits, listeners) and make locks; writing
/// nodes needs one that is not const. \copydetails custodian/client.hpp
class CUSTODIAN_EXPORT Client {
 public:
  /// A client with threads of its own: one for I/O, one for callbacks. Begins to connect at once,
  /// in the background; throws Error if the connection string is wrong.
  explicit Client(std::string_view servers);
  /// The same, with options.
  explicit Client(ClientOptions options);
  /// A client on an executor of the program's, whose context must outlive it and be run. Callbacks
  /// run there, too, unless the options name another executor. While the client is open it has work
  /// there: io_context::run() returns only after close(), or after the client's destruction.
  Client(boost::asio::any_io_executor executor, ClientOptions options);
  /// A moved-from client may only be destroyed.
  Client(Client&&) noexcept = default;
  Client& operator=(Client&&) = delete;
  /// Ends the session, so that its locks pass on at once. With threads of its own, waits for that
  /// to be sent, one second at most; otherwise only begins it.
  ~Client();

  /// Another handle on the same client, which does not own it: what recipes keep. It can outlive
  /// the owner; its operations then fail (closed).
  [[nodiscard]] Client share() const;

  /// \name Nodes
  /// \{

  /// Creates a node. Completes with its final path.
  /// Errors: node_exists, no_node (no parent), no_auth, no_children_for_ephemerals, unimplemented.
  template <typename Token>
  auto async_create(std::string path, std::string data, CreateOptions options, Token&& token) {
    check_create(core_, path, data, options);
    return initiate<void(error_code, Created), &start_create>(
        core_, std::forward<Token>(token), std::move(path), std::move(data), std::move(options));
  }
  /// The same, blocking. Throws Error.
  Created create(std::string path, std::string data = {}, CreateOptions options = {});

  /// Reads a node. Errors: no_node, no_auth.
  template <typename Token>
  auto async_get(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get", path);
    return initiate<void(error_code, GetResult), &start_get>(core_, std::forward<Token>(token),
                                                             std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  GetResult get(std::string path, OperationOptions options = {}) const;

  /// Writes a node. Errors: no_node, bad_version, no_auth.
  template <typename Token>
  auto async_set(std::string path, std::string data, SetOptions options, Token&& token) {
    check_set(core_, path, data);
    return initiate<void(error_code, Stat), &start_set>(core_, std::forward<Token>(token),
                                                        std::move(path), std::move(data), options);
  }
  /// The same, blocking. Throws Error.
  Stat set(std::string path, std::string data, SetOptions options = {});

  /// Removes a node. Errors: no_node (unless quiet), bad_version, not_empty, no_auth.
  template <typename Token>
  auto async_remove(std::string path, RemoveOptions options, Token&& token) {
    check_remove(core_, path, options);
    return initiate<void(error_code), &start_remove>(core_, std::forward<Token>(token),
                                                     std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  void remove(std::string path, RemoveOptions options = {});

  /// Removes a node in the background, again and again until it is gone, the session that owns it
  /// is over, or the servers forbid it (which ends the session, since nothing else can free it).
  /// After a reconnection such deletes go first. For unique names, of ephemeral nodes: another
  /// node of the same name would go, too. Does not throw, not even when the client is closed.
  void remove_in_background(std::string path) noexcept;

  /// Completes with the node's metadata, or nothing if it does not exist.
  template <typename Token>
  auto async_exists(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "exists", path);
    return initiate<void(error_code, std::optional<Stat>), &start_exists>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  std::optional<Stat> exists(std::string path, OperationOptions options = {}) const;

  /// Lists the names of a node's children. Errors: no_node, no_auth.
  template <typename Token>
  auto async_children(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "children", path);
    return initiate<void(error_code, Children), &start_children>(core_, std::forward<Token>(token),
                                                                 std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  Children children(std::string path, OperationOptions options = {}) const;

  /// Reads a node's ACL. Errors: no_node, no_auth.
  template <typename Token>
  auto async_get_acl(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get_acl", path);
    return initiate<void(error_code, Acl), &start_get_acl>(core_, std::forward<Token>(token),
                                                           std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  Acl get_acl(std::string path, OperationOptions options = {}) const;

  /// Replaces a node's ACL. Errors: no_node, bad_version (of the ACL), invalid_acl, no_auth.
  template <typename Token>
  auto async_set_acl(std::string path, Acl acl, SetOptions options, Token&& token) {
    check_path(core_, "set_acl", path);
    return initiate<void(error_code), &start_set_acl>(core_, std::forward<Token>(token),
                                                      std::move(path), std::move(acl), options);
  }
  /// The same, blocking. Throws Error.
  void set_acl(std::string path, Acl acl, SetOptions options = {});

  /// Waits until the connected server has caught up with the leader, as far as this path goes. Does
  /// not prove that the leader still leads.
  template <typename Token>
  auto async_sync(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "sync", path);
    return initiate<void(error_code), &start_sync>(core_, std::forward<Token>(token),
                                                   std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  void sync(std::string path, OperationOptions options = {}) const;

  /// Applies all operations, or none. Completes with the error of the first that failed, and with
  /// the result of each. Never repeated when its reply is lost.
  template <typename Token>
  auto async_commit(Transaction transaction, OperationOptions options, Token&& token) {
    check_commit(core_, transaction);
    return initiate<void(error_code, std::vector<TransactionResult>), &start_commit>(
        core_, std::forward<Token>(token), std::move(transaction), options);
  }
  /// The same, blocking. Throws Error; its path() is that of the operation that the servers
  /// refused, if they did: of a lease's check(), with no_node, when the lock is lost.
  std::vector<TransactionResult> commit(Transaction transaction, OperationOptions options = {});
  /// \}

  /// \name Watches
  /// \{

  /// Reads and watches what was read: the watch ends with the next change of the data, or the node.
  template <typename Token>
  auto async_get_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "get", path);
    return initiate<void(error_code, GetResult, Watch), &start_get_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  std::pair<GetResult, Watch> get_and_watch(std::string path, OperationOptions options = {}) const;

  /// The same, for a node that need not exist. Beware of watching a node that is gone for good, a
  /// sequential one for instance: the watch then stays on the server until it is destroyed.
  template <typename Token>
  auto async_exists_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "exists", path);
    return initiate<void(error_code, std::optional<Stat>, Watch), &start_exists_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  std::pair<std::optional<Stat>, Watch> exists_and_watch(std::string path,
                                                         OperationOptions options = {}) const;

  /// The same, for the list of a node's children.
  template <typename Token>
  auto async_children_and_watch(std::string path, OperationOptions options, Token&& token) const {
    check_path(core_, "children", path);
    return initiate<void(error_code, Children, Watch), &start_children_and_watch>(
        core_, std::forward<Token>(token), std::move(path), options);
  }
  /// The same, blocking. Throws Error.
  std::pair<Children, Watch> children_and_watch(std::string path,
                                                OperationOptions options = {}) const;
  /// \}

  /// \name Connection
  /// \{

  /// As of now: it may be another one when it arrives. Any thread.
  [[nodiscard]] ConnectionState connection_state() const;
  /// Called with every change from now on. The listener is kept until the subscription is
  /// destroyed.
  [[nodiscard]] Subscription on_connection_state(ConnectionListener listener) const;

  /// Waits until the state is another than `known`, at once if it is already.
  /// Completes with: error, the state (`known` with an error).
  /// Cancellation: total.
  /// Errors: operation_aborted; closed, if that is the state and is known.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_connection_state(ConnectionState known, Token&& token) const {
    return initiate<void(error_code, ConnectionState), &start_wait_connection_state>(
        core_, std::forward<Token>(token), known);
  }

  /// Completes when there is a connection; at once if there is one.
  template <typename Token>
  auto async_wait_connected(OperationOptions options, Token&& token) const {
    return initiate<void(error_code), &start_wait_connected>(core_, std::forward<Token>(token),
                                                             options);
  }
  /// The same, blocking. Throws Error.
  void wait_connected(OperationOptions options = {}) const;

  /// The session as of now; its id is 0 if there is none.
  [[nodiscard]] SessionInfo session() const;

  /// Replaces the servers; throws Error if the list is wrong or has a chroot. The session goes on.
  void set_servers(std::string_view servers);

  /// Replaces `ClientOptions::credentials`, for a rotation without a restart: docs/operating.md
  /// says in which order. The session goes on, with the leases on it. Returns at once; of several
  /// calls the newest counts. Any thread; throws Error (invalid_argument, as the constructor does;
  /// forked); does nothing once the client is closed.
  ///
  /// New credentials: the client presents them to the servers on a short session beside its own
  /// first, and then on the standing connection, when the log says so (`LogLevel::info`); without a
  /// connection, on the next one. A request that needs them and is sent earlier fails (no_auth).
  /// If the servers refuse them, the log says that (`LogLevel::error`), and the client goes on with
  /// the earlier ones: nothing is lost. They refuse a scheme that they do not know; a `digest` with
  /// a wrong password is another user to them, which they accept.
  ///
  /// Earlier credentials: what a session has presented cannot be taken back, so this one has their
  /// permissions until it ends, and nodes that it creates with creator_all_acl() belong to all that
  /// it has presented. Later sessions present the new ones alone.
  ///
  /// Without a session, as after auth_failed, a new one begins with these at once.
  void set_credentials(const std::vector<ClientOptions::Credential>& credentials);

  /// Ends the session and waits for that to be sent, one second at most; on a thread that runs the
  /// client it only begins that, and it waits only a tenth of a second where no thread runs the
  /// client's executor. What is under way fails (closed), leases are lost, watches end. Does
  /// nothing the second time.
  void close();
  /// The same in an orderly way: refuses new acquires, ends those that wait, and closes when the
  /// last lease has been released, at the deadline, or when another call closes it. False if a
  /// lease was still held then.
  bool close(Deadline deadline);
  /// The same without blocking, for a program that runs the client on its own executor.
  /// Completes with: error, whether all leases were released in time.
  /// Cancellation: total; the client stays open then, and goes on refusing new acquires.
  /// Errors: operation_aborted, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_close(Deadline deadline, Token&& token) {
    return initiate<void(error_code, bool), &start_close>(core_, std::forward<Token>(token),
                                                          deadline);
  }

  /// The strand that recipes run on. Post nothing that may block.
  [[nodiscard]] boost::asio::any_io_executor get_executor() const;
  /// As `ClientOptions::identity`, with its default filled in.
  [[nodiscard]] const std::string& identity() const;
  /// As `ClientOptions::fencing_epoch`.
  [[nodiscard]] std::int64_t fencing_epoch() const noexcept;
  /// As `ClientOptions::retry`.
  [[nodiscard]] const RetryPolicy& retry_policy() const;
  /// This deadline, or that of `ClientOptions::operation_timeout` from now on in the place of a
  /// default one.
  [[nodiscard]] Deadline deadline_or_default(Deadline deadline) const;
  /// The reason why this client accepts nothing new, if so: closed (or draining), forked.
  [[nodiscard]] error_code unusable() const noexcept;
  /// Writes a line through the client's log sink: for authors of recipes.
  void log(LogLevel level, std::string message) const;
  /// Operations without a reply, and watches: for tests that nothing is left over.
  [[nodiscard]] Session::Load load() const;

  /// The client's only object of this type; made at the first call. Like `asio::use_service`, but
  /// each client has its own.
  template <typename T>
  T& use_service() {
    return static_cast<T&>(custodian::use_service(
        core_, typeid(T), [](boost::asio::any_io_executor strand) -> std::unique_ptr<Service> {
          return std::make_unique<T>(std::move(strand));
        }));
  }

  /// For authors of recipes: the core for initiate() and block().
  [[nodiscard]] const CorePtr& core() const noexcept { return core_; }
  /// For authors of recipes: user code of theirs (a position callback) is posted here.
  [[nodiscard]] boost::asio::any_io_executor callback_executor() const;
  /// \}

 private:
  struct Runtime;
  Client(CorePtr core, std::shared_ptr<Runtime> runtime);

  CorePtr core_;
  /// The threads of an owner that has its own.
  std::shared_ptr<Runtime> runtime_;
  bool owner_ = false;
};

}  // namespace custodian
