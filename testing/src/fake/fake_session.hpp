#pragma once

/// \file
/// FakeSession is the client's side of a FakeEnsemble: it implements Session. Called on the strand
/// only, except try_again().

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>

#include "fake/fake_server.hpp"

namespace custodian::testing {

class FakeSession final : public Session, public std::enable_shared_from_this<FakeSession> {
 public:
  FakeSession(std::shared_ptr<FakeServer> server, std::string client,
              boost::asio::any_io_executor strand, SessionSettings settings,
              std::weak_ptr<SessionObserver> observer);

  void start() override;
  void submit(Request request, ReplyHandler handler) override;
  void unwatch(const std::shared_ptr<Watcher>& watcher) override;
  void close(std::chrono::milliseconds grace, std::function<void()> done) override;
  void retire() override;
  void disconnect() override;
  void set_servers(std::string) override {}
  void set_credentials(std::vector<SessionSettings::Credential>) override {}
  [[nodiscard]] Load load() const override;

  /// Called when a message has arrived on this connection.
  void receive(const FakeConnectionPtr& connection);
  /// Called when the servers have sent a ping on this connection.
  void on_question(const FakeConnectionPtr& connection);
  /// Called, from any thread, when the servers may accept connections again.
  void try_again();

 private:
  struct Operation {
    ReplyHandler handler;
    Submission submission;
    std::shared_ptr<Watcher> watcher{};  ///< null once the watch was given up
    std::optional<WatchId> watch{};
    ReplyProof stamp{};
    bool decided_by_quorum = false;
  };
  struct Waiting {
    ArmedOn armed_on = ArmedOn::a_node;
    std::vector<std::shared_ptr<Watcher>> watchers{};
  };

  [[nodiscard]] BootClock::time_point now() const noexcept { return now_by(settings_.clock); }
  void connect_after(std::chrono::milliseconds pause);
  void connect_soon();
  void connect();
  void on_cut(NextWatches watches);
  void on_reply(FakeMessage message);
  void on_event(const FakeMessage& message);
  void on_session_over();
  void end();
  void refuse(error_code error, ReplyHandler handler);
  void complete(Operation operation, Reply reply);
  void fail_operations(error_code error);
  void drop_watches();
  void end_watches(error_code error);
  /// Removes a watch from the server if no watcher here needs it.
  void settle(const WatchId& watch);
  [[nodiscard]] bool is_over() const;
  void set_state(SessionState state);

  const std::shared_ptr<FakeServer> server_;
  const std::string client_;
  const boost::asio::any_io_executor strand_;
  const SessionSettings settings_;
  const std::weak_ptr<SessionObserver> observer_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer lag_timer_;
  boost::asio::any_io_executor waits_;  ///< keeps the context running until the session is accepted

  SessionInfo info_;
  SessionState state_ = SessionState::connecting;
  bool closing_ = false;
  bool retired_ = false;
  std::vector<std::function<void()>> closed_;  ///< handlers of close()
  FakeConnectionPtr connection_;
  std::map<std::uint64_t, Operation> operations_;  ///< those without an answer yet, in order
  std::map<WatchId, Waiting> waiting_;
  std::int64_t seen_ = 0;  ///< the newest zxid that a message brought
  std::uint64_t next_operation_ = 0;
  std::size_t submissions_ = 0;
};

}  // namespace custodian::testing
