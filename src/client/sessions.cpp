#include "client/sessions.hpp"

#include <algorithm>
#include <utility>

#include "client/client_core.hpp"
#include "client/client_session.hpp"
#include "session/reconnect.hpp"

namespace custodian::detail {

Sessions::Credentials for_a_session(const std::vector<ClientOptions::Credential>& credentials) {
  Sessions::Credentials all;
  all.reserve(credentials.size());
  for (const auto& [scheme, value] : credentials) all.push_back({scheme, value});
  return all;
}

Sessions::Sessions(ClientCore& core, std::string servers, Credentials credentials)
    : core_{core},
      credentials_{std::move(credentials)},
      proven_credentials_{credentials_},
      timer_{core.strand()},
      servers_{std::move(servers)} {}

Sessions::~Sessions() = default;

// -- One session after another --------------------------------------------------------------------

void Sessions::begin() {
  const ClientOptions& options = core_.options();
  SessionSettings settings{.servers = servers(),
                           .session_timeout = options.session_timeout,
                           .connect_timeout = options.connect_timeout,
                           .earlier_connections = core_.session_info().connection,
                           .credentials = credentials_,
                           .tls = core_.tls(),
                           .max_request_size = options.max_request_size,
                           .clock = options.clock};
  begun_with_ = credentials_;
  answered_ = false;
  current_ = std::make_shared<ClientSession>(core_.shared_from_this());
  current_->start(std::move(settings));
}

void Sessions::begin_after(std::chrono::milliseconds pause) {
  pauses_ = true;
  timer_.expires_after(pause);
  timer_.async_wait([this, weak = core_.weak_from_this()](error_code error) {
    const auto core = weak.lock();
    // set_credentials() may have begun the next session while this call was queued.
    if (!core || error || core->closed() || !std::exchange(pauses_, false)) return;
    begin();
  });
}

void Sessions::on_state(ClientSession& session, SessionState state, const SessionInfo& info) {
  const bool goes_on = state == SessionState::connected || state == SessionState::connecting;
  // Of a retired session only the end matters.
  if (&session != current_.get()) {
    if (goes_on) return;
    std::erase_if(retired_, [&](const auto& each) { return each.get() == &session; });
    return;
  }
  core_.on_session_state(state, info);
  if (!goes_on) replace(state);
}

void Sessions::replace(SessionState end) {
  const auto record =
      credentials_ == proven_credentials_ ? CredentialRecord::proven : CredentialRecord::unproven;
  switch (next_session(end, record)) {
    case NextSession::none: break;
    case NextSession::at_once: begin(); break;
    case NextSession::with_proven_credentials:
      core_.log(LogLevel::error,
                "the servers refuse the new credentials; the client goes on with the earlier ones");
      credentials_ = proven_credentials_;
      begin();
      break;
    case NextSession::after_refused_credentials:
      core_.finish_operations(ServerErrc::auth_failed);
      core_.log(LogLevel::error, "the servers refused the credentials; trying again in 5 s");
      begin_after(ReconnectPace::refused_credentials);
      break;
  }
}

void Sessions::on_answer() {
  // Credentials are sent first on each connection, so an answer says that they were accepted.
  if (!std::exchange(answered_, true)) proven_credentials_ = begun_with_;
}

// -- Giving up ------------------------------------------------------------------------------------

void Sessions::give_up(ClientSession& session, LossReason reason) {
  if (core_.closed() || &session != current_.get()) return;
  const std::shared_ptr<ClientSession> given_up = current_;
  core_.log(LogLevel::warning, "giving the session up: " + std::string{to_string(reason)});
  core_.on_session_given_up();
  retired_.push_back(given_up);
  begin();
  given_up->lose_holds(reason);
  given_up->retire();
  core_.set_connection_state(ConnectionState::lost);
}

std::shared_ptr<ClientSession> Sessions::with_id(std::int64_t id) const {
  return id != 0 && core_.own_session_info().id == id ? current_ : nullptr;
}

void Sessions::end(std::int64_t id) {
  if (const auto session = with_id(id)) give_up(*session, LossReason::session_over);
}

void Sessions::close(std::chrono::milliseconds grace, std::function<void()> done) {
  timer_.cancel();
  for (const auto& each : retired_) each->wire().close(grace, nullptr);
  current_->wire().close(grace, std::move(done));
}

// -- Servers and credentials ----------------------------------------------------------------------

std::string Sessions::servers() const {
  const std::lock_guard lock{mutex_};
  return servers_;
}

void Sessions::set_servers(const std::string& servers) {
  {
    const std::lock_guard lock{mutex_};
    servers_ = servers;
  }
  current_->wire().set_servers(servers);
  for (const auto& each : retired_) each->wire().set_servers(servers);
}

void Sessions::set_credentials(Credentials credentials) {
  if (core_.closed()) return;
  credentials_ = std::move(credentials);
  if (!std::exchange(pauses_, false)) return current_->wire().set_credentials(credentials_);
  // The earlier credentials were refused: there are none to go back to, and no reason to pause
  // before these are tried.
  proven_credentials_ = credentials_;
  timer_.cancel();
  begin();
}

void Sessions::on_credentials_refused(const ClientSession& session, const Credentials& kept) {
  if (&session == current_.get()) credentials_ = kept;
}

}  // namespace custodian::detail
