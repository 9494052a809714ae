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
/// On the strand: the servers do not have it. Notifies the owners that rely on it.
CUSTODIAN_EXPORT void tell_missing(QueuedNode& node);
}  // namespace detail

/// How a node leaves a line of its client's own contenders.
enum class LeaveReason : std::uint8_t {
  in_order,   ///< it is about to be deleted: the next one may have its place
  forfeited,  ///< it may be gone, or its session is over: no other contender may have its place
};

/// Called on the strand, once, when a node leaves its line. Returns the next owner of its place,
/// which may act on that at once; null for none. The node is deleted in one transaction with a
/// check of that one's, so that it is in front of it until the servers have seen both. If the check
/// fails, the owner of the place at that moment is notified that its node is gone, before this one
/// is deleted.
using FindSuccessor = std::function<std::shared_ptr<detail::QueuedNode>(LeaveReason)>;

/// Owns a node that the client's session has created, under a unique name (see
/// `Protection::by_unique_name`). Destroying it deletes the node in the background: again and again
/// until the servers say that it is gone, or its session is over. Never blocks or throws.
///
/// Move-only; one thread at a time. May outlive its client, whose end takes the node along.
class CUSTODIAN_EXPORT OwnedNode {
 public:
  OwnedNode() noexcept = default;
  /// Throws std::bad_alloc; the node is the session's then.
  OwnedNode(CorePtr core, Created created);
  /// A moved-from object is empty.
  OwnedNode(OwnedNode&&) noexcept = default;
  /// Deletes, in the background, what it owned before.
  OwnedNode& operator=(OwnedNode&& other) noexcept;
  ~OwnedNode();

  /// The facts about the node, which may be kept longer than the node; null if this is empty.
  [[nodiscard]] const std::shared_ptr<const Created>& created() const noexcept { return created_; }
  /// Empty if this is.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The last part of the path.
  [[nodiscard]] std::string_view name() const noexcept;
  /// The metadata of its creation; all zero if this is empty.
  [[nodiscard]] const Stat& stat() const noexcept;
  /// On the strand: whether its session is still the client's. A server that lags behind lists
  /// nodes of sessions that are over.
  [[nodiscard]] bool alive() const;

  /// On the strand: it stands in a line, from now on.
  void stand_in_line(FindSuccessor next);
  /// On the strand: it leaves its line, in whichever way the node ends. Does nothing the second
  /// time.
  void forfeit();
  /// The view that the one in front has of this one; null if it is in no line.
  [[nodiscard]] const std::shared_ptr<detail::QueuedNode>& in_line() const noexcept {
    return line_;
  }

  /// A watch on the node itself, to be kept until the deletion has fired it: taking it off the
  /// server before that would cost a request. Empty if it has none.
  void set_watch(Watch watch) noexcept { watch_ = std::move(watch); }
  /// The watch of set_watch().
  [[nodiscard]] const Watch& watch() const noexcept { return watch_; }

 private:
  CorePtr core_;
  std::shared_ptr<const Created> created_;
  Watch watch_;
  std::shared_ptr<detail::QueuedNode> line_;
  FindSuccessor next_;
};

}  // namespace custodian
