#pragma once

/// \file
/// CredentialTrial finds out whether the servers accept new credentials: a second session presents
/// them and sends one request. A server that refuses a credential ends the connection, and the C
/// client ends the handle with it: on the client's own session, this would cost every lock. A Probe
/// (session/probe.hpp) presents no credentials; it finds out whether the servers work at all. Used
/// on the strand only.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class ZooKeeperSession;

class CredentialTrial final : public SessionObserver,
                              public std::enable_shared_from_this<CredentialTrial> {
 public:
  enum class Verdict { accepted, refused };
  /// Called once, however long it takes to reach a server.
  using Listener = std::function<void(Verdict)>;

  /// `settings` contain the credentials to be tried.
  [[nodiscard]] static std::shared_ptr<CredentialTrial> start(
      const boost::asio::any_io_executor& strand, SessionSettings settings, Listener listener);
  void set_servers(const std::string& servers);
  /// Ends the trial's session in the background. The listener is not called any more.
  void stop();

  void on_state(SessionState state, const SessionInfo& info) override;
  void on_answer(const ReplyProof&) override {}
  /// Does nothing: the client's own session logs.
  void on_log(LogLevel, std::string) override {}

 private:
  CredentialTrial(boost::asio::any_io_executor strand, SessionSettings settings, Listener listener);
  void begin();
  /// Begins another session after the pause, because the last one has ended without a verdict.
  void begin_again_after(std::chrono::milliseconds pause);
  void ask();
  void conclude(Verdict verdict);

  const boost::asio::any_io_executor strand_;
  SessionSettings settings_;
  Listener listener_;
  std::shared_ptr<ZooKeeperSession> session_;
  boost::asio::steady_timer timer_;
};

}  // namespace custodian::detail
