#pragma once

/// \file
/// FollowedTree follows a tree on the servers: it sends the reads that its MirrorTree plans, keeps
/// the watches that they arm, and passes on the changes.
///
/// 1. A session begins, and its server catches up (sync).
/// 2. The reads that are due are sent.
/// 3. Each reply, and each event of a watch, goes to the MirrorTree, and more reads may be due.
/// 4. When the session is over, replies and events that are under way are void: again from 1.
///
/// Threads: as each function says. All decisions are made on the strand; a mutex guards what other
/// threads read.

#include <array>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/event.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/client.hpp"
#include "mirror/change_stream.hpp"
#include "mirror/mirror_tree.hpp"

namespace custodian::recipes_detail {

class FollowedTree : public std::enable_shared_from_this<FollowedTree> {
 public:
  /// Makes the tree, and begins to follow it, in the background.
  [[nodiscard]] static std::shared_ptr<FollowedTree> follow(const Client& client, std::string path,
                                                            MirrorOptions options);
  /// Use follow().
  FollowedTree(Client client, std::string path, MirrorOptions options);

  /// \name On any thread
  /// \{
  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] MirroredNodePtr get(std::string_view path) const;
  [[nodiscard]] std::vector<MirroredNodePtr> children(std::string_view path) const;
  [[nodiscard]] MirrorSnapshotPtr snapshot() const;
  [[nodiscard]] MirrorState state() const;
  /// Puts the present tree into a feed, and then every change, for as long as the feed is owned.
  void feed(const std::shared_ptr<ChangeFeed>& feed);
  /// Ends the following, in the background, and removes the watches.
  void close();
  /// \}

  /// \name On the strand
  /// \{
  /// Why the tree is not followed any more; no error while it is followed.
  [[nodiscard]] error_code ended() const;
  /// The stream of changes, which begins with the first call.
  [[nodiscard]] ChangeStream& stream();
  /// Marks, while it exists, that a caller waits for the stream. Converts to false if another
  /// caller waits already.
  class Reading {
   public:
    explicit Reading(FollowedTree& tree)
        : tree_{std::exchange(tree.has_reader_, true) ? nullptr : &tree} {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      if (tree_ != nullptr) tree_->has_reader_ = false;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return tree_ != nullptr; }

   private:
    FollowedTree* tree_;
  };
  /// Notified when the state changes, or when changes were fed.
  [[nodiscard]] AsyncEvent& news() noexcept { return news_; }
  /// \}

 private:
  using Index = MirrorNodes::Index;
  using Watches = std::array<Watch, 2>;  ///< on the data, on the list of the children
  struct Following;

  // The two coroutines, for as long as the tree is followed.
  static boost::asio::awaitable<void> follow(std::shared_ptr<FollowedTree> tree);
  static boost::asio::awaitable<void> follow_connection(std::shared_ptr<FollowedTree> tree);

  // Called by these coroutines.
  void begin_session();
  void end_session();
  void on_connection(ConnectionState state);
  void end(error_code error);
  /// The context was destroyed, or memory ran out: ends the tree, since nothing runs any more.
  void abandon() noexcept;
  [[nodiscard]] bool has_session() const noexcept { return session_ != 0; }
  [[nodiscard]] Deadline next_try() const noexcept { return next_try_; }
  void try_again_if_due();

  // Reads, replies and events.
  void send_reads();
  void send(PlannedRead read);
  template <typename Found, typename Accept>
  void on_reply(const MirrorReadId& read, error_code error, Watch watch, Found found,
                Accept accept);
  void on_failure(const MirrorReadId& read, error_code error);
  void on_event(const MirrorReadId& read, error_code error, WatchEventType event);
  void keep(const MirrorReadId& read, Watch watch);
  /// Whether the session is still that of the reads.
  [[nodiscard]] bool is_same_session();
  /// Has the MirrorTree take a reply or an event, and passes on the changes that follow from it.
  bool step(const std::function<bool(MirrorTree&)>& take);
  /// Puts changes into the feeds, and returns the feeds. Called with the mutex held.
  [[nodiscard]] std::vector<std::shared_ptr<ChangeFeed>> pass_on(
      const std::vector<MirrorChange>& changes);
  void log_failure(error_code error) const;
  void try_later(int failures);

  const Client client_;
  const std::string path_;
  const CancellationPtr over_;

  // The strand only.
  AsyncEvent news_;  ///< notifies users that wait
  std::shared_ptr<ChangeStream> stream_;
  bool has_reader_ = false;
  AsyncEvent attention_;   ///< wakes follow()
  CancellationPtr reads_;  ///< ends the session's reads
  std::deque<Watches> watches_;
  std::int64_t session_ = 0;      ///< 0: there is no session, or its server has not caught up yet
  std::uint64_t connection_ = 0;  ///< a connection of this session
  bool is_sending_ = false;
  bool is_pausing_ = false;  ///< a read has failed, and no further one is sent for a while
  int failures_ = 0;         ///< in a row
  int refused_ = 0;          ///< how often a refused root was tried again, in a row
  Deadline next_try_ = Deadline::never();

  mutable std::mutex mutex_;  ///< guards what follows
  MirrorTree tree_;
  std::vector<std::weak_ptr<ChangeFeed>> feeds_;
  bool is_connected_ = false;
  error_code ended_;
};

using FollowedTreePtr = std::shared_ptr<FollowedTree>;  // as in custodian/mirror/mirror.hpp

}  // namespace custodian::recipes_detail
