#pragma once

/// \file
/// Mirror is the common part of TreeCache, PathChildrenCache and NodeCache: a copy, in memory, of
/// the nodes at and below a path, which follows every change on the servers. Apache Curator's
/// classes of these names do the same.
///
/// When not to use it: to wait for one change of one node (a Watch, SharedValue); for trees that
/// change many times a second (each change of a node notifies every mirror of it, and costs a
/// read); to decide what must be right at this moment: a mirror lags behind the servers by a round
/// trip, and by more while it is not `synced`. Read with Client::get(), after Client::sync(), for
/// that.
///
/// A mirror begins to read when it is made, in the background. It reads only: it never creates its
/// path. A missing path is an empty tree, and is watched. Each node takes two requests at first,
/// and two watches on a server; an ephemeral node, or a node at the greatest depth, takes one of
/// each. After a disconnection only nodes that have changed are read again; after a lost session
/// everything is read again, from a server that has caught up first. When the connection comes
/// back, the client renews its watches in one request of up to half of
/// `ClientOptions::max_request_size`, some 8,000 watches on paths of 60 characters; nodes whose
/// watches do not fit are read again.
///
/// What is reported: at each moment, the changes up to then, replayed on an empty map, give the
/// present nodes. No change is reported twice. Changes that follow each other quickly may be
/// reported as one; a node that was created and deleted in between, not at all. A deletion is
/// reported once the mirror has looked again, a round trip after its event. If there is another
/// node of the same name by then, as there is after a transaction that deletes a node and creates
/// it anew, the mirror reports `changed` and no removal, even if both nodes look the same. Their
/// czxids differ.
///
/// A node that the client may not read is there without data (`MirrorAccess::refused`), and without
/// its children. Such a node is read again when a child of its parent is created or deleted; the
/// mirror's own path is read again with the pauses of the client's retry policy. Each such path is
/// logged once (`LogLevel::warning`).
///
/// Threads: any. What the functions return is immutable, and may be kept for any time. Lifetimes:
/// the client may be destroyed first (waits then fail with closed, and the last state stays
/// readable); with an executor of the program's own, its context must outlive the mirror, unless
/// the client was closed before. Destroying a mirror ends its waits with operation_aborted, and
/// removes its watches, with a request for each; if the client is to be closed anyway, close it
/// first.

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/mirror/mirror_options.hpp"
#include "custodian/mirror/mirror_snapshot.hpp"
#include "custodian/mirror/mirrored_node.hpp"

namespace custodian {

namespace recipes_detail {

class FollowedTree;
using FollowedTreePtr = std::shared_ptr<FollowedTree>;
struct MirrorOwner;

CUSTODIAN_EXPORT void start_wait_synced(CorePtr core, CancellationPtr cancellation,
                                        FollowedTreePtr tree, Handler<> handler);
CUSTODIAN_EXPORT void start_timed_wait_synced(CorePtr core, CancellationPtr cancellation,
                                              FollowedTreePtr tree, Deadline until,
                                              Handler<bool> handler);
CUSTODIAN_EXPORT void start_next_change(CorePtr core, CancellationPtr cancellation,
                                        FollowedTreePtr tree, Handler<MirrorChange> handler);

}  // namespace recipes_detail

/// Receives the changes of a mirror: see Mirror::on_change().
using MirrorListener = std::function<void(const MirrorChange&)>;

/// A copy of the nodes at and below a path, which follows their changes: the common part of
/// TreeCache, PathChildrenCache and NodeCache.
/// \copydetails custodian/mirror/mirror.hpp
class CUSTODIAN_EXPORT Mirror {
 public:
  /// A moved-from mirror may only be destroyed, or assigned to.
  Mirror(Mirror&&) noexcept = default;
  /// Ends the mirror that this object was before.
  Mirror& operator=(Mirror&&) noexcept = default;

  /// The path of the mirror.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The nodes, as far as they are known
  /// None of these functions sends a request, or blocks for longer than it takes to copy the
  /// pointers to all nodes. Any thread. In a forked child nothing is known.
  /// \{

  /// The node at this path; null if it is not known to exist. Paths are absolute, not relative to
  /// the mirror's.
  [[nodiscard]] MirroredNodePtr get(std::string_view path) const;
  /// The children of the node at this path, by name.
  [[nodiscard]] std::vector<MirroredNodePtr> children(std::string_view path) const;
  /// All nodes. Never null. A snapshot is made when it is asked for; until something changes, all
  /// callers get the same object.
  [[nodiscard]] MirrorSnapshotPtr snapshot() const;
  /// The state of the mirror.
  [[nodiscard]] MirrorState state() const;
  /// \}

  /// \name Waiting until the mirror is in sync
  /// Errors, for all: `boost::system::errc::no_buffer_space` (the tree is larger than
  /// `MirrorOptions::max_nodes`), closed, forked, operation_aborted (the mirror was destroyed).
  /// \{

  /// Waits without limit until the state is `synced`; completes at once if it is.
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: those listed at the head of this group.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_synced(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_wait_synced>(
        core_, std::forward<Token>(token), tree_);
  }
  /// The blocking form of async_wait_synced(). Throws Error; `stop` ends it with operation_aborted.
  void wait_synced(std::stop_token stop = {}) const;

  /// The same until a deadline, or without limit if the deadline is a default one.
  /// Completes with: error, whether the state was `synced` in time.
  /// Cancellation: total.
  /// Errors: those listed at the head of this group.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_synced_until(Deadline until, Token&& token) const {
    return initiate<void(error_code, bool), &recipes_detail::start_timed_wait_synced>(
        core_, std::forward<Token>(token), tree_, until);
  }
  /// The same with a duration.
  template <typename Token>
  auto async_wait_synced_for(std::chrono::nanoseconds time, Token&& token) const {
    return async_wait_synced_until(Deadline{time}, std::forward<Token>(token));
  }
  /// The blocking form of async_wait_synced_until(). Throws Error; `stop` ends it with
  /// operation_aborted. If no thread runs the client's context, the call returns false a tenth of a
  /// second after the deadline, or after `ClientOptions::operation_timeout` if the deadline has
  /// passed already.
  [[nodiscard]] bool wait_synced_until(Deadline until, std::stop_token stop = {}) const;
  /// The same with a duration.
  [[nodiscard]] bool wait_synced_for(std::chrono::nanoseconds time,
                                     std::stop_token stop = {}) const {
    return wait_synced_until(Deadline{time}, std::move(stop));
  }
  /// \}

  /// \name Changes
  /// \{

  /// Gets the next change of this object's stream, which begins with the first call: the present
  /// nodes as additions, then `synced` if the mirror is in sync, and then every change. From the
  /// first call on, changes are kept until they are asked for: so go on asking, or use on_change().
  /// Completes with: error, the change.
  /// Cancellation: total; a later call continues the stream.
  /// Errors: those of async_wait_synced(), once all changes before the end were delivered;
  /// invalid_argument if another call is waiting.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_next(Token&& token) {
    return initiate<void(error_code, MirrorChange), &recipes_detail::start_next_change>(
        core_, std::forward<Token>(token), tree_);
  }
  /// The blocking form of async_next(). Throws Error; `stop` ends it with operation_aborted.
  [[nodiscard]] MirrorChange next(std::stop_token stop = {});

  /// Notifies the listener of the present nodes as additions, then of `synced` if the mirror is in
  /// sync, and then of every change, until the subscription is destroyed or the mirror ends; the
  /// listener is not notified of that end. Throws Error: invalid_argument (an empty function),
  /// forked.
  ///
  /// Changes wait in memory for a slow listener; it delays no one else. An exception of the
  /// listener is logged (`LogLevel::error`), and the next change goes to it all the same.
  ///
  /// The subscription may be destroyed at any moment, on any thread, and by the listener itself.
  /// Then no new call begins; a call that is under way may still be running. The subscription may
  /// outlive the client and the mirror.
  ///
  /// Executor: the client's callback executor; calls do not overlap.
  [[nodiscard]] Subscription on_change(MirrorListener listener) const;
  /// \}

 protected:
  /// Begins to mirror. `recipe` is the name of the recipe in errors. Throws Error
  /// (invalid_argument) if `path` is not a valid path, or `max_nodes` is 0.
  Mirror(const Client& client, std::string_view recipe, std::string path, MirrorOptions options);
  ~Mirror() = default;

 private:
  CorePtr core_;
  recipes_detail::FollowedTreePtr tree_;
  std::shared_ptr<recipes_detail::MirrorOwner> owner_;  ///< ends the mirror
};

}  // namespace custodian
