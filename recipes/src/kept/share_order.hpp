#pragma once

/// \file
/// ShareOrder decides which of a client's readers share a node of a read/write lock, and what
/// becomes of a node that its last reader has released: it is deleted, or stays without a reader
/// (*idle*).
///
/// Only the newest node takes more readers, whether it holds the lock or still waits; up to
/// `most_readers` in all. It must stand behind every writer in the queue: a listing with a watch
/// has shown that, and the watch has not fired. A node in front of a writer is *retired*: it never
/// takes another reader. A writer of the client itself retires the newest node as soon as the
/// writer's create is sent, before the watch fires. A reader that comes while a node is created, or
/// while the queue is listed, waits for the answer, and then joins the node or gets the next one.
///
/// Writers do not starve: a reader that comes after a writer was reported gets a node behind the
/// writer's; until the report, `most_readers` limits the readers in front.
///
/// Pure: events in, decisions out.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

class ShareOrder {
 public:
  using Reader = std::uint64_t;  ///< in the order of arrival
  using Node = std::uint64_t;    ///< in the order of the creates; from 1

  /// What must be done.
  struct Next {
    std::vector<Reader> hold{};    ///< these readers have the lock now
    Node held = 0;                 ///< the node by which they have it
    std::optional<Node> create{};  ///< create this node
    bool list = false;             ///< list the queue, with a watch: a reader waits for that
    /// These nodes are not wanted any more. A node that holds the lock must be deleted. Any other
    /// node must leave the queue, which ends with on_ended() or on_granted().
    std::vector<Node> end{};
  };
  struct Entry {
    Reader reader = 0;
    Next next{};
  };
  struct Exit {
    bool waited = false;  ///< it was waiting until now
    Next next{};
  };
  struct Failure {
    std::vector<Reader> failed{};  ///< the readers that end with the node's error
    Next next{};
  };

  explicit ShareOrder(std::int64_t most_readers) noexcept : most_readers_{most_readers} {}

  /// Lets a reader join the newest node, if that node holds the lock and takes more readers.
  /// Returns whether the reader has joined.
  [[nodiscard]] bool join();
  /// A reader arrives that may have to wait.
  [[nodiscard]] Entry enter();
  /// A reader that waits gives up.
  [[nodiscard]] Exit leave(Reader reader);

  /// The node's create is sent, for the first time or in another session.
  void on_sent(Node node);
  /// The node is in the queue. Without a number, or with one that cannot be compared, it takes no
  /// more readers.
  [[nodiscard]] Next on_queued(Node node, std::optional<Sequence> number);
  /// The node is granted the lock; `keeps`: it may stay when it has no reader.
  [[nodiscard]] Next on_granted(Node node, bool keeps);
  /// The node has ended before it was granted the lock.
  [[nodiscard]] Failure on_ended(Node node);
  /// A reader has released the node. `sound`: the node may have another reader.
  [[nodiscard]] Next on_released(Node node, bool sound);
  /// The node takes no more readers, and is deleted as soon as it has none.
  [[nodiscard]] Next retire(Node node);

  /// \name Is a writer behind the newest node?
  /// \{

  /// The queue is listed, with a watch.
  void on_asked() noexcept { asked_ = true; }
  /// The queue was listed. `last_writer` is the number of the last writer in it; nothing if it has
  /// none.
  [[nodiscard]] Next on_listed(std::optional<Sequence> last_writer);
  /// The listing has failed, or cannot be used, and no other one is under way.
  [[nodiscard]] Next on_not_listed();
  /// The watch has fired. If listing_helps(), a listing will follow.
  void on_changed();
  /// A writer of this client is about to send its create. Readers without a node get a node behind
  /// the writer, with the next answer.
  [[nodiscard]] Next on_own_writer();
  /// Whether a listing is worth its price before the next reader comes. It is if the newest node
  /// holds the lock, for then readers could join at once. It is not for a node that waits in a long
  /// queue, because such a queue changes often.
  [[nodiscard]] bool listing_helps() const;
  /// \}

  [[nodiscard]] bool is_idle(Node node) const;
  /// Whether the node never takes another reader; true for a node that is gone.
  [[nodiscard]] bool is_retired(Node node) const;
  [[nodiscard]] Node newest() const noexcept { return newest_; }
  /// Whether the client has a node in the queue, or on its way there, as far as is known here.
  [[nodiscard]] bool has_node() const noexcept { return !nodes_.empty(); }

 private:
  enum class Phase : std::uint8_t { creating, waits, holds };
  struct Place {
    Phase phase = Phase::creating;
    std::optional<Sequence> number{};
    std::int64_t served = 0;     ///< how many readers the node has had
    std::size_t holders = 0;     ///< how many readers hold the lock by the node
    std::set<Reader> waiting{};  ///< the readers that wait for the node's grant
    bool keeps = false;
    bool retired = false;
  };

  [[nodiscard]] Place* newest_place();
  [[nodiscard]] const Place* newest_place() const;
  /// Whether the node may take another reader: it is neither full nor retired, nor being created.
  [[nodiscard]] bool is_open(const Place& place) const noexcept {
    return !place.retired && place.phase != Phase::creating && place.served < most_readers_;
  }
  [[nodiscard]] bool may_join() const;
  [[nodiscard]] bool stays() const;
  /// Retires the newest node if it is known to stand in front of a writer.
  void retire_in_front_of_writer();
  void let_in(Next& next);
  void create(Next& next);
  void drop_idle(Next& next);
  [[nodiscard]] Next decide();

  const std::int64_t most_readers_;
  std::map<Node, Place> nodes_;
  Node newest_ = 0;  ///< 0 if the newest node is gone
  Node last_ = 0;    ///< the last one that was created
  Reader last_reader_ = 0;
  std::set<Reader> pending_;  ///< readers without a node
  bool known_ = false;        ///< `last_writer_` is the last writer in the queue
  bool asked_ = false;        ///< a listing is under way
  bool due_ = false;          ///< a listing will follow
  std::optional<Sequence> last_writer_;
};

}  // namespace custodian::recipes_detail
