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
/// On the strand: the servers do not have the node. Notifies the owner that relies on it, once.
CUSTODIAN_EXPORT void tell_missing(QueuedNode& node);
}  // namespace detail

/// How a node leaves a line of its client's own contenders.
enum class LeaveReason : std::uint8_t {
  in_order,   ///< it is about to be deleted: the next contender may take its place
  forfeited,  ///< it may be gone, or its session is over: no contender may take its place
};

/// Called on the strand, once, when a node leaves its line. Returns the node that takes its place,
/// or null; the owner of that node may act at once. One transaction checks the successor's node and
/// deletes the leaving node, so the leaving node stays in front until the servers have seen both.
/// If the check fails, the owner of the place at that moment is notified that its node is gone,
/// before the leaving node is deleted.
using FindSuccessor = std::function<std::shared_ptr<detail::QueuedNode>(LeaveReason)>;

/// Owns a node that the client's session has created, under a unique name (see
/// `Protection::by_unique_name`). Destroying it deletes the node in the background: again and again
/// until the servers say that it is gone, or its session is over. Never blocks or throws.
///
/// Move-only; one thread at a time. May outlive its client, whose end takes the node along.
class CUSTODIAN_EXPORT OwnedNode {
 public:
  OwnedNode() noexcept = default;
  /// Throws std::bad_alloc; the node then stays until its session ends.
  OwnedNode(CorePtr core, Created created);
  /// A moved-from object is empty.
  OwnedNode(OwnedNode&&) noexcept = default;
  /// Deletes, in the background, the node that it owned before.
  OwnedNode& operator=(OwnedNode&& other) noexcept;
  ~OwnedNode();

  /// The facts about the node, which may be kept longer than the node; null if this is empty.
  [[nodiscard]] const std::shared_ptr<const Created>& created() const noexcept { return created_; }
  /// The path of the node; empty if this is empty.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The last part of the path.
  [[nodiscard]] std::string_view name() const noexcept;
  /// The metadata at its creation; all zero if this is empty.
  [[nodiscard]] const Stat& stat() const noexcept;
  /// On the strand: whether the node's session is still the client's. A server that lags behind may
  /// list nodes of sessions that are over.
  [[nodiscard]] bool alive() const;

  /// On the strand: puts the node into a line of its client's own contenders; `next` is called when
  /// it leaves.
  void stand_in_line(FindSuccessor next);
  /// On the strand: takes the node out of its line as `forfeited`, no matter how the node ends.
  /// Does nothing the second time.
  void forfeit();
  /// The node's state as the node in front of it sees it; null if the node is in no line.
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
  Watch watch_;
  std::shared_ptr<detail::QueuedNode> line_;
  FindSuccessor next_;
};

}  // namespace custodian
