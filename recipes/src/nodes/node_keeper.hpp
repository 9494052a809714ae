#pragma once

/// \file
/// NodeKeeper keeps the node of one PersistentNode: the object's state, and the coroutine that
/// creates the node, watches it and deletes it in the end.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "async/listeners.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"
#include "nodes/node_claim.hpp"

namespace custodian::recipes_detail {

class NodeKeeper;
using NodeKeeperPtr = std::shared_ptr<NodeKeeper>;

class NodeKeeper : public std::enable_shared_from_this<NodeKeeper> {
 public:
  using State = PersistentNodeState;

  /// Checks the arguments. Throws Error.
  NodeKeeper(const Client& client, std::string path, std::string data,
             PersistentNodeOptions options);

  // -- Any thread ---------------------------------------------------------------------------------

  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] const PersistentNodeOptions& options() const noexcept { return options_; }
  /// The path that the user has given.
  [[nodiscard]] const std::string& given_path() const noexcept { return given_; }
  /// The node's path; empty while the node has no number yet.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] State state() const;
  /// The data that are wanted.
  [[nodiscard]] std::string data() const;
  [[nodiscard]] Subscription listen(Listeners<State, error_code>::Listener listener);
  /// Whether other objects may keep a node at the same path.
  [[nodiscard]] bool shares_its_path() const noexcept { return !is_unique_; }
  /// Requested when the end begins. Strand only.
  [[nodiscard]] const CancellationPtr& over() const noexcept { return over_; }
  /// Begins the end: the node is deleted.
  void close();
  /// Whether close() was called.
  [[nodiscard]] bool is_closing() const noexcept { return closing_; }

  /// Runs until the end. `before` is the former keeper of the same path, whose end is awaited
  /// first; it may be null.
  [[nodiscard]] static boost::asio::awaitable<void> keep(NodeKeeperPtr self, NodeKeeperPtr before);

  // -- The strand only ----------------------------------------------------------------------------

  /// Called when the client closes: the node ends with its session.
  void client_closes();
  /// Called when the coroutine has thrown: ends the keeper.
  void fail(error_code error);
  /// Sets the data that the node is to have, and returns the number of these data.
  std::uint64_t want(std::string data);
  /// Whether the servers have had the data of this number, or later ones.
  [[nodiscard]] bool has_written(std::uint64_t revision) const { return written_ >= revision; }
  [[nodiscard]] bool is_present() const { return state() == State::present; }
  [[nodiscard]] bool is_over() const { return state() == State::closed; }
  /// Why the node is not as it is to be; no error if it only takes time.
  [[nodiscard]] error_code trouble() const noexcept { return trouble_; }
  /// Waits for a change of what the functions above return.
  [[nodiscard]] boost::asio::awaitable<void> wait_for_change(Deadline until,
                                                             CancellationPtr cancellation);

 private:
  /// The node as it was read, with a watch on it.
  using Seen = Watched<GetResult>;

  // The steps of keep(); see their definitions.
  [[nodiscard]] boost::asio::awaitable<Result<Seen>> obtain();
  [[nodiscard]] boost::asio::awaitable<error_code> create();
  [[nodiscard]] boost::asio::awaitable<error_code> act_on(Seen seen);
  [[nodiscard]] boost::asio::awaitable<error_code> write(std::int32_t version);
  [[nodiscard]] boost::asio::awaitable<error_code> replace(std::int32_t version);
  [[nodiscard]] boost::asio::awaitable<void> pause_before_takeover();
  [[nodiscard]] boost::asio::awaitable<error_code> rest(Watch watch);
  [[nodiscard]] boost::asio::awaitable<error_code> clear_up();
  [[nodiscard]] boost::asio::awaitable<error_code> remove_if_ours();

  [[nodiscard]] bool ends() const { return over_->requested(); }
  /// Whether this is the child of a fork, where the mutex may be locked for ever.
  [[nodiscard]] bool is_forked() const { return client_.unusable() == Errc::forked; }
  void begin_create();
  void end_create(const error_code& error);
  void note_session();
  void name(const std::string& path);
  void wrote(std::uint64_t revision);
  void interrupt();
  void enter(State state, error_code trouble = {});

  const Client client_;
  const std::string given_;
  const PersistentNodeOptions options_;
  const bool is_unique_;
  /// Ends the requests of keep(), and then its loop.
  const CancellationPtr over_;
  Listeners<State, error_code> listeners_;
  std::atomic<bool> closing_ = false;

  // The strand only.
  NodeClaim claim_;
  bool is_sent_ = false;  ///< whether a create was sent, so that there may be a node to delete
  std::chrono::steady_clock::time_point create_began_{};
  bool is_missing_ = true;
  int takeovers_ = 0;  ///< how often a foreign node was replaced
  bool client_is_closing_ = false;
  NodeWish wish_;
  std::uint64_t revision_ = 1;    ///< the number of `wish_`
  std::uint64_t written_ = 0;     ///< the newest number of data that the servers have had
  CancellationPtr interruption_;  ///< ends a rest, so that the loop looks again
  AsyncEvent changes_;
  error_code trouble_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::string path_;
  std::string data_;  ///< a copy of `wish_`'s
  State state_ = State::absent;
};

}  // namespace custodian::recipes_detail
