#pragma once

/// \file
/// Probe finds out whether the servers work: a second session, which has seen no transaction and
/// presents no credentials, tries to connect. Only servers that do not work refuse it: see
/// ConnectionRecord. A CredentialTrial (session/credential_trial.hpp) finds out whether servers
/// accept credentials. Used on the strand only.

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class ZooKeeperSession;

class Probe final : public SessionObserver, public std::enable_shared_from_this<Probe> {
 public:
  enum class Result { connected, over };
  /// Called once: when the probe has a session, or cannot get one.
  using Listener = std::function<void(Result)>;

  [[nodiscard]] static std::shared_ptr<Probe> start(const boost::asio::any_io_executor& strand,
                                                    SessionSettings settings, Listener listener);
  void set_servers(const std::string& servers);
  /// Ends the probe's session in the background. The listener is not called any more.
  void stop();

  void on_state(SessionState state, const SessionInfo& info) override;
  void on_answer(const ReplyProof&) override {}
  /// Does nothing: the client's own session, which waits for the same servers, logs.
  void on_log(LogLevel, std::string) override {}

 private:
  explicit Probe(Listener listener) : listener_{std::move(listener)} {}

  Listener listener_;
  std::shared_ptr<ZooKeeperSession> session_;
};

}  // namespace custodian::detail
