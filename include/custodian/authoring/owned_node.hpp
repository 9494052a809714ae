#pragma once

/// \file
/// An ephemeral node that stands for somebody in a queue: for authors of recipes.

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
/// On the strand: the servers do not have it. Tells whoever relies on it.
CUSTODIAN_EXPORT void tell_missing(QueuedNode& node);
}  // namespace detail

/// How a node leaves a line of its client's own contenders.
enum class LeaveReason : std::uint8_t {
  in_order,   ///< it is about to be deleted: whoever is next may have its place
  forfeited,  ///< it is not known to be there, or its session is over: nobody may
};

/// Told on the strand, once, that a node leaves its line: who has its place from now on, and may
/// act on that at once; null for nobody. The node is deleted in one transaction with a check of
/// that one's, so that it stands in front of it until the servers have seen both. If the check
/// fails whoever has the place by then is told that the node is gone, before this one is deleted.
using FindSuccessor = std::function<std::shared_ptr<detail::QueuedNode>(LeaveReason)>;

/// Owns a node that the client's session has created, under a name that is nobody else's (see
/// `Protection::by_unique_name`). Destroying it deletes the node in the background: again and again
/// until the servers say that it is gone, or its session is over. Never blocks or throws.
///
/// Move-only; one thread at a time. May outlive its client, whose end takes the node along.
class CUSTODIAN_EXPORT OwnedNode {
 public:
  OwnedNode() noexcept = default;
  /// Throws std::bad_alloc; the node is the session's then.
  OwnedNode(CorePtr core, Created created);
  /// What is moved from is empty.
  OwnedNode(OwnedNode&&) noexcept = default;
  /// Deletes, in the background, what it owned before.
  OwnedNode& operator=(OwnedNode&& other) noexcept;
  ~OwnedNode();

  /// What is known of it, for those who keep that longer than the node; null if this is empty.
  [[nodiscard]] const std::shared_ptr<const Created>& created() const noexcept { return created_; }
  /// Empty if this is.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The last part of the path.
  [[nodiscard]] std::string_view name() const noexcept;
  /// Of its creation; all zero if this is empty.
  [[nodiscard]] const Stat& stat() const noexcept;
  /// On the strand: whether its session is still the client's. A server that lags behind lists
  /// nodes of sessions that are over.
  [[nodiscard]] bool alive() const;

  /// On the strand: it stands in a line, from now on.
  void stand_in_line(FindSuccessor next);
  /// On the strand: it leaves its line, whatever becomes of the node. Does nothing the second time.
  void forfeit();
  /// What the one in front answers for this one; null if it stands in no line.
  [[nodiscard]] const std::shared_ptr<detail::QueuedNode>& in_line() const noexcept {
    return line_;
  }

  /// A watch on the node itself, to be kept until the deletion has fired it: taking it off the
  /// server before that would cost a request. Empty if it has none.
  void set_watch(Watch watch) noexcept { watch_ = std::move(watch); }
  /// What set_watch() was given.
  [[nodiscard]] const Watch& watch() const noexcept { return watch_; }

 private:
  CorePtr core_;
  std::shared_ptr<const Created> created_;
  Watch watch_;
  std::shared_ptr<detail::QueuedNode> line_;
  FindSuccessor next_;
};

}  // namespace custodian
