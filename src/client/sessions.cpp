#include "client/sessions.hpp"

#include <algorithm>
#include <utility>

#include "base/ensemble_config.hpp"
#include "client/client_core.hpp"
#include "client/client_session.hpp"
#include "session/reconnect.hpp"

namespace custodian::detail {

Sessions::Sessions(ClientCore& core, std::string servers, Credentials credentials)
    : core_{core},
      credentials_{std::move(credentials)},
      proven_credentials_{credentials_},
      source_{core},
      timer_{core.strand()},
      given_{std::move(servers)} {}

Sessions::~Sessions() = default;

// -- One session after another --------------------------------------------------------------------

void Sessions::begin() {
  current_ = std::make_shared<ClientSession>(core_.shared_from_this());
  if (!source_.exists()) return start();
  waits_ = true;
  ask();
}

void Sessions::start() {
  waits_ = false;
  const ClientOptions& options = core_.options();
  SessionSettings settings{.servers = servers(),
                           .session_timeout = options.session_timeout,
                           .connect_timeout = options.connect_timeout,
                           .earlier_connections = core_.session_info().connection,
                           .credentials = credentials_,
                           .tls = core_.tls(),
                           .sasl = core_.sasl(),
                           .max_request_size = options.max_request_size,
                           .clock = options.clock};
  begun_with_ = credentials_;
  answered_ = false;
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
  // Of a retired session, only the end matters.
  if (&session != current_.get()) {
    if (goes_on) return;
    std::erase_if(retired_, [&](const auto& each) { return each.get() == &session; });
    return;
  }
  const bool reconnected =
      state == SessionState::connected && info.id == core_.own_session_info().id;
  core_.on_session_state(state, info);
  if (!goes_on) return replace(state);
  if (!reconnected || !source_.exists()) return;
  source_.was_asked_lately() ? ask_after_pause() : ask();
}

void Sessions::replace(SessionState end) {
  const bool refused = end == SessionState::auth_failed || end == SessionState::auth_required;
  // The next session begins with newer credentials than those that were refused.
  if (refused && credentials_ != begun_with_) return begin();
  const auto record =
      credentials_ == proven_credentials_ ? CredentialRecord::proven : CredentialRecord::unproven;
  switch (next_session(end, record)) {
    case NextSession::none: break;
    case NextSession::at_once: begin(); break;
    case NextSession::with_proven_credentials:
      core_.log(LogLevel::error,
                "the servers refuse the new credentials; the client goes on with the earlier ones");
      credentials_ = proven_credentials_;
      // The provider is not asked: it would give the refused credentials again.
      current_ = std::make_shared<ClientSession>(core_.shared_from_this());
      start();
      break;
    case NextSession::after_refused_credentials:
      if (refused) nothing_proven_ = true;
      core_.finish_operations(end == SessionState::auth_required
                                  ? ServerErrc::session_closed_require_sasl_auth
                                  : ServerErrc::auth_failed);
      log_refusal(end);
      begin_after(ReconnectPace::refused_credentials);
      break;
  }
}

void Sessions::log_refusal(SessionState end) {
  if (end != SessionState::auth_required) {
    const std::string what =
        end == SessionState::identity_refused ? "identity that SASL proves" : "credentials";
    return core_.log(LogLevel::error, "the servers refused the " + what + "; trying again in 5 s");
  }
  std::string schemes;
  for (const auto& each : credentials_) schemes += (schemes.empty() ? "" : ", ") + each.scheme;
  core_.log(LogLevel::error,
            "the servers work only for clients that authenticate with a scheme of their "
            "enforce.auth.schemes, and this client has presented " +
                (schemes.empty() ? "no credentials" : "credentials for " + schemes + " only") +
                ": set ClientOptions::credentials (for x509 a certificate in TlsOptions, for sasl "
                "ClientOptions::sasl); trying again in 5 s");
}

void Sessions::on_answer() {
  // Credentials are sent first on each connection, so an answer says that they were accepted.
  if (std::exchange(answered_, true)) return;
  proven_credentials_ = begun_with_;
  nothing_proven_ = false;
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
  source_.stop();
  for (const auto& each : retired_) each->wire().close(grace, nullptr);
  current_->wire().close(grace, std::move(done));
}

// -- Servers and credentials ----------------------------------------------------------------------

std::string Sessions::servers() const {
  const std::lock_guard lock{mutex_};
  return with_members(given_, members_);
}

std::vector<HostPort> Sessions::given() const {
  const std::lock_guard lock{mutex_};
  return parse_connection_string("set_servers", given_).hosts;
}

void Sessions::set_servers(const std::string& servers) {
  {
    const std::lock_guard lock{mutex_};
    given_ = servers;
  }
  replace_servers();
}

void Sessions::set_members(std::vector<HostPort> members) {
  {
    const std::lock_guard lock{mutex_};
    members_ = std::move(members);
  }
  replace_servers();
}

void Sessions::replace_servers() {
  const std::string all = servers();
  current_->wire().set_servers(all);
  for (const auto& each : retired_) each->wire().set_servers(all);
}

void Sessions::set_credentials(Credentials credentials) {
  if (core_.closed()) return;
  credentials_ = std::move(credentials);
  has_been_given_ = true;
  if (!waits_ && !pauses_) return current_->wire().set_credentials(credentials_);
  // If the earlier credentials were refused, there are none to go back to, and no reason to pause
  // before these are tried.
  if (nothing_proven_) proven_credentials_ = credentials_;
  timer_.cancel();
  if (std::exchange(pauses_, false))
    current_ = std::make_shared<ClientSession>(core_.shared_from_this());
  start();
}

// -- The provider ---------------------------------------------------------------------------------

void Sessions::ask() {
  // Capturing `this` is safe: the source is a member of this object, and calls back only while the
  // client lives.
  source_.ask([this](std::optional<Credentials> answer) { on_provided(std::move(answer)); });
}

void Sessions::on_provided(std::optional<Credentials> answer) {
  if (core_.closed()) return;
  if (answer) {
    // During a session, credentials are presented only if they have changed.
    if (waits_ || *answer != credentials_) set_credentials(std::move(*answer));
  } else if (waits_) {
    // The provider has failed. The session begins with the credentials that were given before, if
    // any; otherwise it has to wait for an answer.
    if (has_been_given_) return start();
    ask_after_pause();
  }
}

void Sessions::ask_after_pause() {
  timer_.expires_after(CredentialSource::least_interval);
  timer_.async_wait([this, weak = core_.weak_from_this()](error_code error) {
    const auto core = weak.lock();
    // If begin_after() is waiting, begin() asks when that pause ends.
    if (core && !error && !core->closed() && !pauses_) ask();
  });
}

void Sessions::on_credentials_refused(const ClientSession& session, const Credentials& kept) {
  if (&session == current_.get()) credentials_ = kept;
}

}  // namespace custodian::detail
