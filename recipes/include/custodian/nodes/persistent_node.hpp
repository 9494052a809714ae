#pragma once

/// \file
/// PersistentNode keeps one node on the servers: it creates the node, creates it again whenever it
/// is gone, and deletes it in the end. It is Apache Curator's class of this name, and its node is
/// an ordinary node, which every client can read.
///
/// By default the node is ephemeral: it says that this process is there, through one session after
/// the other. The node is not written when the connection is interrupted and the session goes on.
/// After a lost session, one transaction replaces the old node by a new one, if the old one is
/// still there: so nobody sees the path empty.
///
/// Only a node that this object has created is ever written or deleted, unless
/// `ForeignNode::is_taken_over` is set. The object recognises an ephemeral node by its session; so
/// a node that this client has created at the path by other means counts as the object's. It
/// recognises a persistent node by the transaction that created it; so a restarted program takes
/// the node of its last run for a foreign one: see `ForeignNode`. If the reply to the create was
/// lost, a node that was never written and has the same data counts as the created one. A unique
/// name (`Protection::by_unique_name`) leaves no doubt.
///
/// When not to use it: for a node whose content is shared (SharedValue); to take part in an
/// election or a lock (LeaderLatch, InterProcessMutex), since the existence of a node does not mean
/// that its process may act.
///
/// Threads: any. Lifetimes: the client may be destroyed first; the object is then closed.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/nodes/persistent_node_options.hpp"

namespace custodian {

namespace recipes_detail {
class NodeKeeper;
using NodeKeeperPtr = std::shared_ptr<NodeKeeper>;

/// Throws Error (invalid_argument) for data that the servers would not accept.
CUSTODIAN_EXPORT void check_data(const NodeKeeperPtr& keeper, const std::string& data);
CUSTODIAN_EXPORT void start_wait_present(CorePtr core, CancellationPtr cancellation,
                                         NodeKeeperPtr keeper, OperationOptions options,
                                         Handler<> handler);
CUSTODIAN_EXPORT void start_set_data(CorePtr core, CancellationPtr cancellation,
                                     NodeKeeperPtr keeper, std::string data,
                                     OperationOptions options, Handler<> handler);
CUSTODIAN_EXPORT void start_close_node(CorePtr core, CancellationPtr cancellation,
                                       NodeKeeperPtr keeper, Deadline deadline,
                                       Handler<bool> handler);
}  // namespace recipes_detail

/// Keeps one node on the servers for as long as the object lives.
/// \copydetails custodian/nodes/persistent_node.hpp
class CUSTODIAN_EXPORT PersistentNode {
 public:
  /// What is known of the node.
  using State = PersistentNodeState;
  /// Receives each new state, and an error: node_exists with `taken`, the servers' error with
  /// `refused`, the reason with `closed`; no error with the other states.
  using Listener = std::function<void(State, error_code)>;

  /// Begins to keep the node; returns at once. Throws Error: invalid_argument (not a valid path,
  /// the root, data that are too large, a TTL that does not fit the mode, or another PersistentNode
  /// of this client keeps the path and is not closed), closed, forked. If another PersistentNode of
  /// this client at the path is being closed, this one begins when that close has ended.
  PersistentNode(const Client& client, std::string path, std::string data = {},
                 PersistentNodeOptions options = {});
  /// A moved-from object may only be destroyed or assigned to.
  PersistentNode(PersistentNode&&) noexcept = default;
  /// Closes the node that this object kept before.
  PersistentNode& operator=(PersistentNode&& other) noexcept;
  /// Closes the object: the node is deleted in the background. Does not wait.
  ~PersistentNode();

  /// The path of the node, with its unique prefix and its number, if it has them. The path of a
  /// sequential node is empty until the servers have numbered it.
  [[nodiscard]] std::string path() const;
  /// The data that the node is to have: those of the constructor, or of the newest set_data().
  [[nodiscard]] std::string data() const;
  /// What is known of the node now. It may be out of date at once.
  [[nodiscard]] State state() const;

  /// Calls the listener with every state from now on, until the subscription is destroyed.
  /// Executor: the client's callback executor; calls do not overlap. An exception of the listener
  /// reaches that executor.
  [[nodiscard]] Subscription on_state(Listener listener) const;

  /// Waits until the node is there.
  /// Completes with: error.
  /// Cancellation: total; the node is kept all the same.
  /// Errors: at the deadline the reason why the node is not there (node_exists, or the error with
  /// which the servers refuse it), or deadline_exceeded; node_exists at once with
  /// `ForeignNode::fails`; closed, operation_aborted.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_present(OperationOptions options, Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_present>(
        core_, std::forward<Token>(token), keeper_, options);
  }
  /// async_wait_present() with default options.
  template <typename Token>
  auto async_wait_present(Token&& token) const {
    return async_wait_present(OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_wait_present(). Throws Error.
  void wait_present(OperationOptions options = {}) const;

  /// Gives the node these data from now on, and waits until the servers have them, or later ones.
  /// Data that a later call has replaced are not sent. When the call fails, the data still count:
  /// the object writes them when the servers can be reached, and with every create. (A retry policy
  /// in the options is not used.)
  /// Completes with: error.
  /// Cancellation: total; the data still count.
  /// Errors: at the deadline the reason why the data could not be written, as for
  /// async_wait_present(), or deadline_exceeded_outcome_unknown; closed, operation_aborted. Throws
  /// at once: invalid_argument (the data are larger than the servers accept).
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_set_data(std::string data, OperationOptions options, Token&& token) {
    recipes_detail::check_data(keeper_, data);
    return initiate<void(error_code), &recipes_detail::start_set_data>(
        core_, std::forward<Token>(token), keeper_, std::move(data), options);
  }
  /// async_set_data() with default options.
  template <typename Token>
  auto async_set_data(std::string data, Token&& token) {
    return async_set_data(std::move(data), OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_set_data(). Throws Error.
  void set_data(std::string data, OperationOptions options = {});

  /// Deletes the node, and waits until it is gone. A second call waits for the same delete.
  /// Completes with: error, whether the node is gone; if not, the time ran out, and the delete goes
  /// on in the background for as long as the client lives.
  /// Cancellation: total; the delete goes on.
  /// Errors: no_auth (an ephemeral node stays until its session ends), not_empty (somebody has
  /// created children; the node stays), operation_aborted.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_close(Deadline deadline, Token&& token) {
    return initiate<void(error_code, bool), &recipes_detail::start_close_node>(
        core_, std::forward<Token>(token), keeper_, deadline);
  }
  /// The blocking form of async_close(). Throws Error. Default: the client's operation timeout.
  bool close(Deadline deadline = {});

 private:
  CorePtr core_;
  recipes_detail::NodeKeeperPtr keeper_;
};

}  // namespace custodian
