#pragma once

/// \file
/// FakeServer is the servers' side of a FakeEnsemble: the tree, the sessions, and a wire to each
/// connected session.
///
/// Threads: one mutex guards everything, and no code of a session or a test runs under it: messages
/// for a session are put on its wire, and its strand is woken.

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "custodian/testing/fake_ensemble.hpp"
#include "fake/fake_tree.hpp"
#include "fake/timekeeper.hpp"

namespace custodian::testing {

class FakeSession;

struct WatchId {
  std::string path;
  WatchKind kind = WatchKind::data;
  friend auto operator<=>(const WatchId&, const WatchId&) = default;
};

enum class ArmedOn { a_node, its_absence };
using ArmedWatches = std::map<WatchId, ArmedOn>;

/// A message from the server. A connection's messages arrive in order.
struct FakeMessage {
  enum class Kind { reply, event, cut };
  Kind kind = Kind::reply;
  std::uint64_t operation = 0;  ///< the operation that a reply answers
  Reply reply{};
  WatchId watch{};  ///< the watch that has fired; only in an event
  WatchEventType event = WatchEventType::created;
  NextWatches next_watches = NextWatches::are_restored;  ///< only in a cut
  std::int64_t zxid = 0;  ///< the newest zxid that the server had seen when it sent a reply
  int turns = 0;          ///< executor turns until it arrives; negative: held until released
};

/// The wire from the server to a session. Guarded by the server's mutex.
struct FakeConnection {
  std::int64_t session = 0;
  boost::asio::any_io_executor strand;
  std::weak_ptr<FakeSession> receiver;
  std::deque<FakeMessage> inbox{};
  bool severed = false;  ///< further messages are dropped
  bool woken = false;    ///< a call of the receiver is posted and has not run yet
};
using FakeConnectionPtr = std::shared_ptr<FakeConnection>;

class FakeServer final : public TimedServers {
 public:
  /// Makes a server, and registers it with its clock, if it has one.
  [[nodiscard]] static std::shared_ptr<FakeServer> make(FakeEnsembleOptions options);
  explicit FakeServer(FakeEnsembleOptions options);

  [[nodiscard]] const FakeEnsembleOptions& options() const noexcept { return options_; }

  // Called by sessions.
  enum class Welcome { accepted, unreachable, expired };
  struct Handshake {
    Welcome welcome = Welcome::unreachable;
    FakeConnectionPtr connection;
    bool lags = false;  ///< the session must call catch_up() after a while
  };
  /// What a session sends in its handshake.
  struct Greeting {
    std::string client{};
    boost::asio::any_io_executor strand{};
    std::int64_t session = 0;  ///< 0 for a new session
    std::chrono::milliseconds timeout{0};
    std::int64_t seen = 0;  ///< the zxid of the newest reply that the session has got
    ArmedWatches watches{};
  };
  /// Connects a session. Events that it missed since its last connection are sent at once. With a
  /// clock, a refused session is woken when it may be accepted.
  [[nodiscard]] Handshake connect(const std::shared_ptr<FakeSession>& receiver, Greeting greeting);
  /// Called when a session has answered the ping on this connection.
  void hear(const FakeConnectionPtr& connection);
  /// Serves a request; the fault decides how much of it is carried out.
  void serve(const FakeConnectionPtr& connection, const Request& request, std::uint64_t operation,
             bool arms_watch, const Fault& fault);
  /// Takes the next message for a receiver that was woken; nothing if none is due.
  [[nodiscard]] std::optional<FakeMessage> receive(const FakeConnectionPtr& connection);
  void catch_up(const FakeConnectionPtr& connection);
  void unwatch(std::int64_t session, const WatchId& watch);
  void sever(const FakeConnectionPtr& connection, EarlierReplies earlier);
  void end_session(std::int64_t session);
  [[nodiscard]] std::shared_ptr<FaultPlan> plan() const;
  void record(const Submission& submission);

  // Called by the ensemble.
  void set_plan(std::shared_ptr<FaultPlan> plan);
  void release_replies();
  std::size_t apply_late_requests();
  void disconnect(std::int64_t session);
  void set_running(bool running);
  void cut_off(const std::string& client);
  void let_in(const std::string& client);
  void leave_server_behind();
  /// Changes the tree, and fires the watches on the nodes that have changed.
  template <typename Action>
  auto change(Action action) {
    const std::lock_guard lock{mutex_};
    std::vector<TreeChange> changes;
    auto result = action(tree_, changes);
    fire(changes);
    return result;
  }
  template <typename Question>
  auto look(Question question) const {
    const std::lock_guard lock{mutex_};
    return question(tree_);
  }
  [[nodiscard]] std::vector<Submission> history() const;
  void clear_history();
  /// The number of watches of each living session.
  [[nodiscard]] std::map<std::int64_t, std::size_t> watches() const;
  [[nodiscard]] bool is_connected(std::int64_t session) const;

  [[nodiscard]] std::optional<Time> next_due() const override;
  void run_due(Time now) override;

 private:
  struct ServerSession {
    std::int64_t id = 0;
    std::string client;
    std::chrono::milliseconds timeout{0};
    Time heard{};  ///< the last sign of life; only with a clock
    Time asked{};  ///< the last ping; only with a clock
    [[nodiscard]] Time end() const { return heard + timeout; }
    /// When the session must be pinged next: as in the C client, after a third of the timeout
    /// without traffic.
    [[nodiscard]] Time next_question() const { return std::max(heard, asked) + timeout / 3; }
    /// Empty if the session is not connected. Only the FakeSession owns the connection: the
    /// connection's executor must not outlive its context, as the server may.
    std::weak_ptr<FakeConnection> connection;
    ArmedWatches watches;
    std::optional<FakeTree> stale;  ///< the tree that its server shows while the server lags behind
    std::optional<FakeTree>
        next_stale;  ///< the tree that its next server shows while that server lags behind
  };

  /// A request that was sent on a connection which has been cut.
  struct LateRequest {
    std::int64_t session = 0;
    Request request;
    /// The request is applied after this many further requests of the session; 0: only by
    /// apply_late_requests().
    int requests_later = 0;
  };

  // Called with the mutex held.
  void process(ServerSession& session, const FakeConnectionPtr& connection, const Request& request,
               std::uint64_t operation, bool arms_watch, int turns);
  /// Counts a request of the session, and applies the late requests that are due after it.
  void count_for_late_requests(std::int64_t session);
  void apply_late(const LateRequest& late);
  void cut(const FakeConnectionPtr& connection, EarlierReplies earlier,
           NextWatches next_watches = NextWatches::are_restored);
  void catch_up(ServerSession& session);
  void forget_session(std::int64_t session);
  /// Ends the sessions whose timeout is over. Called before a message counts as a sign of life: a
  /// jump of the clock wakes the clients before the servers, and a client must not rescue a session
  /// that is over. A message at the exact end of the timeout is in time.
  void end_overdue();
  void end_sessions(const std::function<bool(Time end)>& is_over);
  void fire(const std::vector<TreeChange>& changes);
  /// Fires the watches on the nodes that have changed since a zxid. Called when a session
  /// reconnects, and when its server catches up.
  void fire_missed(ServerSession& session, const FakeTree& tree, std::int64_t since);
  void fire_one(ServerSession& session, ArmedWatches::iterator watch, WatchEventType type);
  void send(const FakeConnectionPtr& connection, FakeMessage message);
  void wake(const FakeConnectionPtr& connection);
  void ask(ServerSession& session, const FakeConnectionPtr& connection);
  void heard(ServerSession& session);
  [[nodiscard]] bool accepts(const std::string& client) const;
  /// Wakes refused sessions, so that they try again. Call it without the mutex.
  void wake_absent();
  [[nodiscard]] Time now() const noexcept { return keeper_ ? keeper_->now() : Time{}; }
  void note_activity() noexcept {
    if (keeper_) keeper_->note_activity();
  }

  const FakeEnsembleOptions options_;
  const std::shared_ptr<Timekeeper> keeper_;  ///< null without a clock
  mutable std::mutex mutex_;
  FakeTree tree_;
  std::map<std::int64_t, ServerSession> sessions_;
  std::vector<LateRequest> late_;
  std::optional<FakeTree> left_behind_;  ///< the tree that the next new session's server shows
  std::int64_t next_session_ = 0x1000'0000'0000'0001;
  bool running_ = true;
  std::set<std::string> cut_off_;  ///< names of the clients that cannot connect
  /// Refused sessions that wait to be accepted; only with a clock.
  std::vector<std::weak_ptr<FakeSession>> absent_;
  std::shared_ptr<FaultPlan> plan_;
  std::vector<Submission> history_;
};

}  // namespace custodian::testing
