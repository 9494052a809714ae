/// \file
/// This file presents credentials that are set during a session. Credentials cannot be taken back
/// from a connection, nor from a handle of the C client, and a refusal ends the handle. So each is
/// presented once, and only after the servers have accepted it on a session of its own: see
/// CredentialTrial.

#include <algorithm>
#include <utility>

#include "session/credential_trial.hpp"
#include "session/zookeeper_session.hpp"

namespace custodian::detail {

using Credentials = std::vector<SessionSettings::Credential>;

void ZooKeeperSession::set_credentials(Credentials credentials) {
  if (!reconnect_.serving()) return;
  stop_trial();
  if (!client_) {
    settings_.credentials = std::move(credentials);
    return;
  }
  SessionSettings settings = settings_;
  settings.credentials = credentials;
  const bool has_news = std::ranges::any_of(credentials, [this](const auto& each) {
    return std::ranges::find(presented_, each) == presented_.end();
  });
  if (!has_news) return accept(std::move(credentials));
  trial_ = CredentialTrial::start(
      strand_, std::move(settings),
      [weak = weak_from_this(), wanted = std::move(credentials)](CredentialTrial::Verdict verdict) {
        const auto self = weak.lock();
        if (!self) return;
        self->stop_trial();
        if (verdict == CredentialTrial::Verdict::refused) return self->refuse_credentials();
        self->accept(wanted);
      });
}

void ZooKeeperSession::accept(Credentials wanted) {
  for (const auto& each : wanted) {
    if (std::ranges::find(presented_, each) != presented_.end()) continue;
    presented_.push_back(each);
    ++to_present_;
  }
  settings_.credentials = std::move(wanted);
  if (to_present_ != 0) schedule_pump();
}

void ZooKeeperSession::refuse_credentials() {
  log(LogLevel::error,
      "the servers refuse the new credentials; the client goes on with the earlier ones");
  if (const auto observer = observer_.lock()) {
    observer->on_credentials_refused(settings_.credentials);
  }
}

void ZooKeeperSession::present_accepted(const Interest& interest) {
  if (to_present_ == 0 || !reconnect_.connected()) return;
  // Nothing else may wait to be sent: see CClient::present(). A write causes another pump.
  if (interest.error || interest.write) return;
  for (; to_present_ != 0; --to_present_) {
    const auto& next = presented_[presented_.size() - to_present_];
    const error_code error = client_->present(next);
    if (error == Errc::not_connected) return;  // the next connection tries again
    if (error) {
      log(LogLevel::error, "the new credentials cannot be presented: " + error.message());
    } else {
      log(LogLevel::info, "the new credentials are presented");
    }
  }
  schedule_pump();  // the C client has still to send the credentials
}

void ZooKeeperSession::stop_trial() {
  if (const auto trial = std::exchange(trial_, nullptr)) trial->stop();
}

}  // namespace custodian::detail
