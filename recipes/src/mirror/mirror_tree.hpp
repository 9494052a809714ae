#pragma once

/// \file
/// MirrorTree decides what a mirror reads next, and what has changed. Replies, ended watches and
/// the fate of the session go in; reads and changes come out. Pure.
///
/// R1  Every fact is covered by a watch, or it will be read again: one mark for each node and kind
///     of read, so that a hundred events cost one read. At most `max_reads` are under way.
/// R2  The identity of a node is its czxid. Another one of the same name is reported as one change,
///     once what was below the earlier one is removed. So a node that was deleted is in doubt, and
///     stays, until a read finds no node of its name: the list of its parent, which is read again
///     anyway, or a read of the node itself. Within a session a reply with an earlier mzxid (of a
///     listing: pzxid) than that of another reply is dropped.
/// R3  A connection that is lost costs no read: the servers report what was missed. In a new
///     session, whose server has caught up (sync), everything is read again; what is not found any
///     more is removed. Its first replies are believed whatever their zxids say, since the servers
///     may have been restored from a backup.
/// R4  Removals are reported children first, additions parents first. A missing root is watched for
///     its creation, and the empty tree is a tree.
/// R5  A node that the client may not read is kept without data, one whose children it may not list
///     without children. Both are tried again when their parent's list is read again.
/// R6  A node without children is watched for children all the same, unless it is ephemeral or at
///     the end of the depth.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/mirror/mirror_options.hpp"
#include "custodian/mirror/mirror_snapshot.hpp"
#include "custodian/mirror/mirrored_node.hpp"
#include "custodian/session/session.hpp"
#include "mirror/mirror_nodes.hpp"

namespace custodian::recipes_detail {

/// What a read asks for. Each read arms a watch: `data` and `existence` on the data, `children` on
/// the list of the children.
enum class MirrorRead : std::uint8_t { data, existence, children };

/// Names a read, and the watch that the read has armed.
struct MirrorReadId {
  MirrorNodes::Index index = 0;
  std::uint32_t generation = 0;
  std::uint32_t session = 0;
  MirrorRead what = MirrorRead::data;
};

struct PlannedRead {
  MirrorReadId id;
  std::string path;
};

class MirrorTree {
 public:
  /// How many reads may be under way. More would fill a server's queue of requests for nothing.
  static constexpr std::size_t max_reads = 64;

  MirrorTree(std::string root, MirrorOptions options);

  /// \name The session
  /// \{
  /// A new session has begun, and its server has caught up: everything is to be read.
  void connected();
  /// The session is over, with its watches. Replies to its reads are void.
  void session_lost();
  /// \}

  /// \name Reads and replies
  /// The functions that take a result return whether the watch of its read is of use. The watch of
  /// a void reply is not.
  /// \{
  /// The next read, if one is due and not too many are under way.
  [[nodiscard]] std::optional<PlannedRead> next_read();
  bool on_data(const MirrorReadId& read, GetResult found);
  bool on_existence(const MirrorReadId& read, const std::optional<Stat>& found);
  bool on_children(const MirrorReadId& read, Children found);
  /// The reply says that the node does not exist.
  void on_missing(const MirrorReadId& read);
  /// The reply says that the client may not read the node.
  void on_refused(const MirrorReadId& read);
  /// The read has failed, and is to be repeated.
  void on_failed(const MirrorReadId& read);
  /// The event of a watch that was of use has come.
  void on_watch_ended(const MirrorReadId& read, WatchEventType event);
  /// Reads again the facts of the root that the servers refused: the root has no parent in the
  /// mirror whose list would cause that. Returns false if nothing was refused.
  bool retry_root();
  /// \}

  /// \name What follows
  /// \{
  /// The changes since the last call, in order.
  [[nodiscard]] std::vector<MirrorChange> take_changes();
  /// The slots whose watches are of no use any more, since the last call.
  [[nodiscard]] std::vector<MirrorNodes::Index> take_released();
  /// The paths that the servers have refused since the last call, and had not refused before.
  [[nodiscard]] std::vector<std::string> take_refusals();
  /// Whether the tree has more nodes than the options allow. Then it is not followed any more.
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  /// Whether the servers do not let the client read the root, or list it: see retry_root().
  [[nodiscard]] bool root_is_refused() const;
  /// `loading`, `synced` or `resyncing`.
  [[nodiscard]] MirrorState state() const noexcept { return state_; }
  /// Whether no read is due or under way.
  [[nodiscard]] bool idle() const noexcept { return under_way_ == 0 && queue_.empty(); }
  /// Whether a node's data, or the list of its children, will be read, by a read that is due or
  /// under way. False for a node that the mirror does not know.
  [[nodiscard]] bool will_read(std::string_view path, WatchKind kind) const;
  /// Whether a node was deleted, and it is unknown yet whether there is another one of its name.
  /// False for a node that the mirror does not know.
  [[nodiscard]] bool is_in_doubt(std::string_view path) const;
  /// \}

  /// \name The nodes
  /// \{
  [[nodiscard]] MirroredNodePtr get(std::string_view path) const;
  [[nodiscard]] std::vector<MirroredNodePtr> children(std::string_view path) const;
  /// All nodes. They are copied only if something has changed since the last call; otherwise the
  /// same object is returned again.
  [[nodiscard]] MirrorSnapshotPtr snapshot() const;
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  /// \}

 private:
  using Index = MirrorNodes::Index;
  struct QueuedRead {
    Index index = 0;
    std::uint32_t generation = 0;
    WatchKind kind = WatchKind::data;
  };

  [[nodiscard]] MirrorFacet& facet(Index index, WatchKind kind);
  [[nodiscard]] bool lists(Index index) const;
  /// Marks a fact as one that is to be read.
  void want(Index index, WatchKind kind);
  /// Puts a marked fact into the queue, unless it is there, or is being read.
  void enqueue(Index index, WatchKind kind);
  void join_walk(MirrorFacet& facet);
  void leave_walk(MirrorFacet& facet);
  void end_walk_if_over();
  /// Notes that the read was answered. Returns whether its node is still in the mirror, in this
  /// session.
  [[nodiscard]] bool answered(const MirrorReadId& read);
  /// Compares a node that was read with what is known of it.
  void compare(Index index, const Stat& stat, std::string data, MirrorAccess access);
  /// Marks a new child for another read, after its parent was listed, if no watch on the parent is
  /// armed: it is uncertain then to which node of the parent's name the child belongs. Returns
  /// whether it is so.
  [[nodiscard]] bool delay(Index index);
  void publish(Index index, const Stat& stat, std::string data, MirrorAccess access);
  /// Called when the data of a node were read: reads the list of its children, too, if that was not
  /// read in this session.
  void list_later(Index index);
  void merge(Index index, std::vector<std::string> names);
  /// Reads the children that were not read in this session, or whose reads were delayed.
  void read_unseen_children(Index index);
  void remove_missing(Index index, const std::vector<std::string>& names);
  /// Called when the parent's list has the node's name: reads again what is in doubt, or what the
  /// servers have refused.
  void retry(Index index);
  [[nodiscard]] bool is_accepted(Index parent, std::string_view name) const;
  /// Notes that the node was deleted; there may be another one of its name.
  void doubt(Index index);
  void remove(Index index);
  void remove_below(Index index);
  void forget(Index index);
  void root_is_missing();
  void tell(MirrorChangeKind kind, MirroredNodePtr node, MirroredNodePtr before);

  const MirrorOptions options_;
  MirrorNodes nodes_;
  std::deque<QueuedRead> queue_;
  std::size_t under_way_ = 0;
  std::size_t walk_ = 0;  ///< facts that the first walk of the session waits for
  std::uint32_t session_ = 0;
  bool is_connected_ = false;
  bool overflowed_ = false;
  MirrorState state_ = MirrorState::loading;
  std::vector<MirrorChange> changes_;
  std::vector<Index> released_;
  std::vector<std::string> refusals_;
  mutable MirrorSnapshotPtr snapshot_;  ///< null after a change
};

}  // namespace custodian::recipes_detail
