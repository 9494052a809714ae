#include "session/credential_trial.hpp"

#include <utility>

#include "session/reconnect.hpp"
#include "session/zookeeper_session.hpp"

namespace custodian::detail {

std::shared_ptr<CredentialTrial> CredentialTrial::start(const boost::asio::any_io_executor& strand,
                                                        SessionSettings settings,
                                                        Listener listener) {
  const std::shared_ptr<CredentialTrial> trial{
      new CredentialTrial{strand, std::move(settings), std::move(listener)}};
  trial->begin();
  return trial;
}

CredentialTrial::CredentialTrial(boost::asio::any_io_executor strand, SessionSettings settings,
                                 Listener listener)
    : strand_{std::move(strand)},
      settings_{std::move(settings)},
      listener_{std::move(listener)},
      timer_{strand_} {}

void CredentialTrial::begin() {
  session_ = std::make_shared<ZooKeeperSession>(strand_, settings_, weak_from_this(),
                                                ZooKeeperSession::Role::probe);
  session_->start();
}

void CredentialTrial::set_servers(const std::string& servers) {
  settings_.servers = servers;
  session_->set_servers(servers);
}

void CredentialTrial::stop() {
  constexpr std::chrono::seconds grace{1};
  listener_ = nullptr;
  timer_.cancel();
  session_->close(grace, nullptr);
}

void CredentialTrial::on_state(SessionState state, const SessionInfo&) {
  if (!listener_) return;
  switch (state) {
    case SessionState::connecting:
    case SessionState::closed: break;
    case SessionState::connected: ask(); break;
    case SessionState::auth_failed:
    case SessionState::auth_required: conclude(Verdict::refused); break;
    case SessionState::expired: begin_again_after({}); break;
    // SASL has failed before the servers have seen the credentials, so there is no verdict.
    case SessionState::identity_refused:
      begin_again_after(ReconnectPace::refused_credentials);
      break;
  }
}

void CredentialTrial::begin_again_after(std::chrono::milliseconds pause) {
  // The timer calls begin() after this call has returned: the call comes from the session that
  // begin() replaces.
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this()](error_code) {
    const auto self = weak.lock();
    if (self && self->listener_) self->begin();
  });
}

void CredentialTrial::ask() {
  // A server answers credentials before the requests behind them, so an answer to this request
  // means that it has accepted the credentials.
  session_->submit(request::Exists{"/", nullptr}, [weak = weak_from_this()](const Reply& reply) {
    const auto self = weak.lock();
    if (!self || !self->listener_) return;
    if (is_answer_of_server(reply.error)) return self->conclude(Verdict::accepted);
    // There is no verdict: the request was throttled, for example. ask() is called again on the
    // next connection.
    self->session_->disconnect();
  });
}

void CredentialTrial::conclude(Verdict verdict) {
  const Listener listener = std::exchange(listener_, nullptr);
  if (listener) listener(verdict);
}

}  // namespace custodian::detail
