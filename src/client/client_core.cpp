#include "client/client_core.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/connection_string.hpp"
#include "base/process_id.hpp"
#include "base/runs_on_this_thread.hpp"
#include "client/operation.hpp"
#include "observe/observation.hpp"
#include "text/in_hex.hpp"
#include "text/one_line.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

std::string default_identity() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string{host.data()} + "/" + std::to_string(::getpid());
}

ClientOptions with_defaults(ClientOptions options) {
  if (!options.name_space.empty() && !options.name_space.starts_with('/')) {
    options.name_space.insert(0, "/");
  }
  if (options.identity.empty()) options.identity = default_identity();
  if (!options.session_factory) options.session_factory = &make_zookeeper_session;
  return options;
}

}  // namespace

std::vector<SessionSettings::Credential> for_a_session(
    const std::vector<ClientOptions::Credential>& credentials) {
  std::vector<SessionSettings::Credential> all;
  all.reserve(credentials.size());
  for (const auto& [scheme, value] : credentials) all.push_back({scheme, value});
  return all;
}

ClientCore::ClientCore(const asio::any_io_executor& executor, asio::any_io_executor callbacks,
                       ClientOptions options, std::shared_ptr<void> keep_alive)
    : keep_alive_{std::move(keep_alive)},
      options_{with_defaults(std::move(options))},
      process_{process_id()},
      strand_{asio::make_strand(executor)},
      callback_executor_{std::move(callbacks)},
      callbacks_{asio::make_strand(callback_executor_)},
      prefix_{parse_connection_string("connect", options_.servers).chroot, options_.name_space},
      observation_{options_.observer ? std::make_unique<Observation>(*this, options_.observer)
                                     : nullptr},
      boot_timers_{std::make_shared<BootTimers>(strand_, options_.clock, callback_executor_)},
      credentials_{for_a_session(options_.credentials)},
      proven_credentials_{credentials_},
      timer_{strand_},
      servers_{options_.servers.substr(0, options_.servers.find('/'))} {}

ClientCore::~ClientCore() = default;

// -- Sessions -------------------------------------------------------------------------------------

void ClientCore::start() {
  if (const error_code error = boot_timers_->open()) {
    log(LogLevel::warning, "no timerfd of CLOCK_BOOTTIME (" + error.message() +
                               "): after this machine was suspended holders hear of a loss late");
  }
  begin_session();
}

void ClientCore::begin_session() {
  SessionSettings settings{.servers = servers(),
                           .session_timeout = options_.session_timeout,
                           .connect_timeout = options_.connect_timeout,
                           .earlier_connections = session_info().connection,
                           .credentials = credentials_,
                           .max_request_size = options_.max_request_size,
                           .clock = options_.clock};
  begun_with_ = credentials_;
  answered_ = false;
  session_ = std::make_shared<ClientSession>(shared_from_this());
  session_->start(std::move(settings));
}

void ClientCore::begin_session_after(std::chrono::milliseconds pause) {
  pauses_ = true;
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (!self || error || self->closing_ || !std::exchange(self->pauses_, false)) return;
    self->begin_session();
  });
}

void ClientCore::on_session_state(ClientSession& session, SessionState state,
                                  const SessionInfo& info) {
  if (&session != session_.get()) {
    const bool over = state != SessionState::connected && state != SessionState::connecting;
    if (over) std::erase_if(retired_, [&](const auto& each) { return each.get() == &session; });
    return;
  }
  const bool same_session = info.id != 0 && info.id == session_info().id;
  connected_ = state == SessionState::connected;
  next_to_resume_ = 0;
  switch (state) {
    case SessionState::connected:
      set_session_info(info);
      deletes_.resume();  // before anything else travels
      set_connection_state(same_session ? ConnectionState::reconnected
                                        : ConnectionState::connected);
      next_to_resume_ = 1;
      resume_operations();
      break;
    case SessionState::connecting:
      if (is_connected(connection_state())) set_connection_state(ConnectionState::suspended);
      break;
    case SessionState::expired:
    case SessionState::auth_failed:
      on_session_over();
      replace_session(state);
      break;
    case SessionState::closed:
      set_session_info(info);
      set_connection_state(ConnectionState::closed);
      break;
  }
}

void ClientCore::replace_session(SessionState end) {
  const auto record =
      credentials_ == proven_credentials_ ? CredentialRecord::proven : CredentialRecord::unproven;
  switch (next_session(end, record)) {
    case NextSession::none: break;
    case NextSession::at_once: begin_session(); break;
    case NextSession::with_proven_credentials:
      log(LogLevel::error,
          "the servers refuse the new credentials; the client goes on with the earlier ones");
      credentials_ = proven_credentials_;
      begin_session();
      break;
    case NextSession::after_refused_credentials:
      for (const auto& operation : operations()) operation->finish(ServerErrc::auth_failed);
      log(LogLevel::error, "the servers refused the credentials; trying again in 5 s");
      begin_session_after(ReconnectPace::refused_credentials);
      break;
  }
}

void ClientCore::on_answer() {
  // Credentials travel first on each connection.
  if (!std::exchange(answered_, true)) proven_credentials_ = begun_with_;
  if (next_to_resume_ == 0 || std::exchange(resume_scheduled_, true)) return;
  // Later: the answer may be the last one of a connection whose loss is noticed next.
  asio::post(strand_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->resume_scheduled_ = false;
    self->resume_operations();
  });
}

void ClientCore::resume_operations() {
  // After an outage there may be a request for each of thousands of waiters. More at once than a
  // server works on (its globalOutstandingLimit is 1000) would only keep the beats waiting.
  constexpr std::size_t most_at_once = 500;
  while (next_to_resume_ != 0 && connected_ && session().load().operations < most_at_once) {
    const auto next = operations_.lower_bound(next_to_resume_);
    if (next == operations_.end()) {
      next_to_resume_ = 0;
      return;
    }
    next_to_resume_ = next->first + 1;
    if (const auto operation = next->second->weak_from_this().lock()) operation->on_connected();
  }
}

void ClientCore::on_session_over() {
  deletes_.session_over(session_->id());
  SessionInfo none = session_info();
  none.id = 0;
  set_session_info(none);
  set_connection_state(ConnectionState::lost);
}

void ClientCore::give_up(ClientSession& session, LossReason reason) {
  if (closing_ || &session != session_.get()) return;
  const std::shared_ptr<ClientSession> given_up = session_;
  log(LogLevel::warning, "giving the session up: " + std::string{to_string(reason)});
  connected_ = false;
  SessionInfo none = session_info();
  none.id = 0;
  set_session_info(none);
  retired_.push_back(given_up);
  late_creates_.session_retired();
  begin_session();
  given_up->lose_holds(reason);
  given_up->retire();
  set_connection_state(ConnectionState::lost);
}

std::shared_ptr<ClientSession> ClientCore::session_of(std::int64_t id) const {
  return id != 0 && info_.id == id ? session_ : nullptr;
}

void ClientCore::end_session(std::int64_t id) {
  if (const auto session = session_of(id)) give_up(*session, LossReason::session_over);
}

void ClientCore::set_session_info(const SessionInfo& info) {
  const std::lock_guard lock{mutex_};
  info_ = info;
}

void ClientCore::set_servers(const std::string& servers) {
  {
    const std::lock_guard lock{mutex_};
    servers_ = servers;
  }
  session_->wire().set_servers(servers);
  for (const auto& each : retired_) each->wire().set_servers(servers);
}

void ClientCore::set_credentials(std::vector<SessionSettings::Credential> credentials) {
  if (closing_) return;
  credentials_ = std::move(credentials);
  if (!std::exchange(pauses_, false)) return session_->wire().set_credentials(credentials_);
  // The earlier ones were refused: with these it may be another matter.
  proven_credentials_ = credentials_;
  timer_.cancel();
  begin_session();
}

void ClientCore::on_credentials_refused(const ClientSession& session,
                                        const std::vector<SessionSettings::Credential>& kept) {
  if (&session == session_.get()) credentials_ = kept;
}

bool ClientCore::forked() const noexcept { return process_id() != process_; }

bool ClientCore::is_own_thread() const {
  return strand_.running_in_this_thread() || runs_on_this_thread(strand_.get_inner_executor()) ||
         runs_on_this_thread(callback_executor_);
}

// -- State ----------------------------------------------------------------------------------------

std::string ClientCore::where(ConnectionState state) const {
  if (state != ConnectionState::connected && state != ConnectionState::reconnected) return {};
  const SessionInfo info = session_info();
  const std::string server = info.server.empty() ? std::string{} : "server " + info.server + ", ";
  return ": " + server + "session " + in_hex(info.id) + ", timeout " +
         std::to_string(info.timeout.count()) + " ms";
}

void ClientCore::set_connection_state(ConnectionState state) {
  std::vector<std::weak_ptr<ConnectionListener>> listeners;
  {
    const std::lock_guard lock{mutex_};
    state_ = state;
    listeners = listeners_.alive();
  }
  const bool bad = state == ConnectionState::suspended || state == ConnectionState::lost;
  log(bad ? LogLevel::warning : LogLevel::info,
      "connection " + std::string{to_string(state)} + where(state));
  if (observation_) observation_->tell_connection_changed(state);
  for (auto& weak : listeners) {
    asio::post(callbacks_, [weak = std::move(weak), state] {
      if (const auto listener = weak.lock()) (*listener)(state);
    });
  }
  state_waiters_.tell(state);
}

void ClientCore::wait_state(ConnectionState known, const CancellationPtr& cancellation,
                            Handler<ConnectionState> handler) {
  const ConnectionState now = connection_state();
  // It will never be another.
  if (now == ConnectionState::closed && known == now) return std::move(handler)(Errc::closed, now);
  state_waiters_.wait(now, known, cancellation, std::move(handler));
}

std::string ClientCore::servers() const {
  const std::lock_guard lock{mutex_};
  return servers_;
}

ConnectionState ClientCore::connection_state() const {
  const std::lock_guard lock{mutex_};
  return state_;
}

SessionInfo ClientCore::session_info() const {
  const std::lock_guard lock{mutex_};
  return info_;
}

Subscription ClientCore::listen(ConnectionListener listener) {
  auto registration = std::make_shared<ConnectionListener>(std::move(listener));
  const std::lock_guard lock{mutex_};
  listeners_.add(registration);
  return Subscription{std::move(registration)};
}

void ClientCore::log(LogLevel level, std::string message) {
  if (!options_.log) return;
  // Here, so that none is forgotten: nodes' names and servers' words are chosen by others.
  message = in_one_line(message);
  asio::post(callbacks_, [self = shared_from_this(), level, message = std::move(message)] {
    try {
      self->options_.log(level, message);
    } catch (...) {
      // A log that cannot be written must not end the process; there is nowhere else to say so.
    }
  });
}

Service& ClientCore::use_service(
    std::type_index type,
    const std::function<std::unique_ptr<Service>(asio::any_io_executor strand)>& make) {
  const std::lock_guard lock{mutex_};
  auto& service = services_[type];
  if (!service) service = make(strand_);
  return *service;
}

// -- Operations -----------------------------------------------------------------------------------

void ClientCore::enter(Operation& operation) {
  operation.number_ = ++next_operation_;
  operations_.emplace(operation.number_, &operation);
}

void ClientCore::leave(Operation& operation) noexcept {
  operations_.erase(std::exchange(operation.number_, 0));
}

std::vector<std::shared_ptr<Operation>> ClientCore::operations() const {
  std::vector<std::shared_ptr<Operation>> all;
  all.reserve(operations_.size());
  for (const auto& [number, operation] : operations_) {
    if (auto alive = operation->weak_from_this().lock()) all.push_back(std::move(alive));
  }
  return all;
}

// -- Holds ----------------------------------------------------------------------------------------

void ClientCore::count_hold(int change) noexcept {
  {
    const std::lock_guard lock{mutex_};
    holds_ += change;
    if (holds_ != 0) return;
    drained_.notify_all();
  }
  if (draining_) asio::post(strand_, [self = shared_from_this()] { self->on_drained(); });
}

bool ClientCore::has_hold() const {
  const std::lock_guard lock{mutex_};
  return holds_ != 0;
}

void ClientCore::cancel_when_drained(const std::shared_ptr<asio::steady_timer>& timer) {
  std::erase_if(drain_timers_, [](const auto& each) { return each.expired(); });
  drain_timers_.push_back(timer);
}

void ClientCore::on_drained() {
  for (const auto& weak : std::exchange(drain_timers_, {})) {
    if (const auto timer = weak.lock()) timer->cancel();
  }
}

void ClientCore::wait_until_drained(Deadline deadline) {
  std::unique_lock lock{mutex_};
  const auto over = [this] { return holds_ == 0 || cut_holders_off_.has_value(); };
  if (deadline.is_never()) {
    drained_.wait(lock, over);
  } else {
    drained_.wait_until(lock, deadline.time_point(), over);
  }
}

bool ClientCore::cut_holders_off() const {
  const std::lock_guard lock{mutex_};
  return cut_holders_off_.value_or(false);
}

// -- The end --------------------------------------------------------------------------------------

void ClientCore::begin_drain() {
  if (draining_.exchange(true)) return;
  on_strand([self = shared_from_this()] {
    for (Service* service : self->services()) service->begin_shutdown();
  });
}

std::vector<Service*> ClientCore::services() const {
  const std::lock_guard lock{mutex_};
  std::vector<Service*> all;
  all.reserve(services_.size());
  for (const auto& [type, service] : services_) all.push_back(service.get());
  return all;
}

void ClientCore::close(std::chrono::milliseconds grace, std::function<void()> done) {
  begin_drain();
  asio::post(strand_, [self = shared_from_this(), grace, done = std::move(done)]() mutable {
    if (!std::exchange(self->closing_, true)) self->begin_close(grace);
    if (!self->telling_holders_) return self->end_sessions(grace, std::move(done));
    self->closers_.push_back(std::move(done));
  });
}

void ClientCore::begin_close(std::chrono::milliseconds grace) {
  {
    const std::lock_guard lock{mutex_};
    cut_holders_off_ = holds_ != 0;
    drained_.notify_all();
  }
  on_drained();
  for (const auto& operation : operations()) operation->finish(Errc::closed);
  telling_holders_ = session_->has_holds();
  session_->lose_holds(LossReason::closed);
  deletes_.clear();
  late_creates_.clear();
  if (!telling_holders_) return;
  // The servers hand the locks on as soon as they are told: their holders are, first. Who will not
  // listen is waited for no longer than this.
  timer_.expires_after(grace / 4);
  timer_.async_wait([self = shared_from_this(), grace](error_code) {
    self->telling_holders_ = false;
    for (auto& done : std::exchange(self->closers_, {})) self->end_sessions(grace, std::move(done));
  });
  asio::post(callback_executor_, [self = shared_from_this()] {
    asio::post(self->strand_, [self] { self->timer_.cancel(); });
  });
}

void ClientCore::end_sessions(std::chrono::milliseconds grace, std::function<void()> done) {
  timer_.cancel();
  for (const auto& each : retired_) each->wire().close(grace, nullptr);
  session_->wire().close(grace, [self = shared_from_this(), done = std::move(done)] {
    if (!std::exchange(self->shut_down_, true)) {
      for (Service* service : self->services()) service->shutdown();
    }
    // A session that was over already had nothing to say.
    if (self->connection_state() != ConnectionState::closed) {
      self->set_connection_state(ConnectionState::closed);
    }
    if (done) done();
  });
}

}  // namespace custodian::detail

namespace custodian {

std::string_view to_string(ConnectionState state) noexcept {
  switch (state) {
    case ConnectionState::connecting: return "connecting";
    case ConnectionState::connected: return "connected";
    case ConnectionState::suspended: return "suspended";
    case ConnectionState::reconnected: return "reconnected";
    case ConnectionState::lost: return "lost";
    case ConnectionState::closed: return "closed";
  }
  return "unknown";
}

}  // namespace custodian
