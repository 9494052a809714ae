#pragma once

/// \file
/// OwnedNode is a contender's ephemeral node: for authors of recipes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/watch.hpp"

namespace custodian {

namespace detail {
struct QueuedNode;
/// Notifies the owner of a node, once, that the servers do not have the node. Called on the strand.
CUSTODIAN_EXPORT void tell_missing(QueuedNode& node);
}  // namespace detail

/// How a node leaves a line of its client's own contenders.
enum class LeaveReason : std::uint8_t {
  in_order,   ///< the node is about to be deleted: the next contender may take its place
  forfeited,  ///< the node may be gone, or its session is over: no contender may take its place
};

/// Returns the successor of a node that leaves its line: the node that takes its place, or null.
/// Called on the strand, once, when the node leaves. The owner of the successor may act at once, as
/// the owner of the place. One transaction checks the successor's node and deletes the leaving
/// node, so the leaving node stays in front until the servers have seen both. If the successor's
/// node is gone, its owner is notified before the leaving node is deleted; if the successor has
/// left, too, its own successor is checked. There is no check if an ACL forbids it, or if both
/// paths are too large for one request.
using FindSuccessor = std::function<std::shared_ptr<detail::QueuedNode>(LeaveReason)>;

/// The consequence if the servers forbid the delete of an owned node.
enum class ForbiddenDelete : std::uint8_t {
  ends_session,  ///< the client ends the session, which frees the node: others may wait for it
  is_logged,     ///< the node stays until the session ends: nobody waits for it
};

/// Owns a node that the client's session has created, under a unique name (see
/// `Protection::by_unique_name`). Destroying this object deletes the node in the background: the
/// delete is repeated until the servers say that the node is gone, or its session is over; see
/// ForbiddenDelete and note_gone(), too. The destructor never blocks or throws.
///
/// Move-only; used by one thread at a time. May outlive its client; the node ends with the client's
/// session.
class CUSTODIAN_EXPORT OwnedNode {
 public:
  OwnedNode() noexcept = default;
  /// Takes ownership of a created node. Throws std::bad_alloc; the node then stays until its
  /// session ends.
  OwnedNode(CorePtr core, Created created,
            ForbiddenDelete if_forbidden = ForbiddenDelete::ends_session);
  /// A moved-from object is empty.
  OwnedNode(OwnedNode&&) noexcept = default;
  /// The node that this object owned before is deleted, in the background. `other` is empty then.
  OwnedNode& operator=(OwnedNode&& other) noexcept;
  ~OwnedNode();

  /// The facts about the node, which may be kept longer than the node; null if this object is
  /// empty.
  [[nodiscard]] const std::shared_ptr<const Created>& created() const noexcept { return created_; }
  /// The path of the node; empty if this object is empty.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The last part of the path.
  [[nodiscard]] std::string_view name() const noexcept;
  /// The node's metadata at its creation; all zero if this object is empty.
  [[nodiscard]] const Stat& stat() const noexcept;
  /// Whether the node's session is still the client's. A server that lags behind may list nodes of
  /// sessions that are over. Called on the strand.
  [[nodiscard]] bool alive() const;

  /// Call this when the node is known to be gone, because a transaction of its owner has removed
  /// it, for example. Destroying this object then sends no delete. The node's place in a line is
  /// forfeited. Called on the strand.
  void note_gone();

  /// Puts the node into a line of its client's own contenders; `next` is called when the node
  /// leaves. Called on the strand.
  void stand_in_line(FindSuccessor next);
  /// Takes the node out of its line as `forfeited`, no matter how the node ends. A second call does
  /// nothing. Called on the strand.
  void forfeit();
  /// The node's state in its line; null if the node is in no line.
  [[nodiscard]] const std::shared_ptr<detail::QueuedNode>& in_line() const noexcept {
    return line_;
  }

  /// Keeps a watch on the node itself until the deletion of the node has fired it: to remove the
  /// watch from the server before that would cost a request.
  void set_watch(Watch watch) noexcept { watch_ = std::move(watch); }
  /// The watch of set_watch(); empty if there is none.
  [[nodiscard]] const Watch& watch() const noexcept { return watch_; }

 private:
  CorePtr core_;
  std::shared_ptr<const Created> created_;
  ForbiddenDelete if_forbidden_ = ForbiddenDelete::ends_session;
  bool is_gone_ = false;
  Watch watch_;
  std::shared_ptr<detail::QueuedNode> line_;
  FindSuccessor next_;
};

}  // namespace custodian
