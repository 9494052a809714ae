#include "client/client_core.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/connection_string.hpp"
#include "base/process_id.hpp"
#include "base/runs_on_this_thread.hpp"
#include "client/operation.hpp"
#include "session/sasl.hpp"
#include "session/tls.hpp"
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

Security security_of(const ClientOptions& options) {
  const bool secure = parse_connection_string("connect", options.servers).secure;
  return {.tls = options.tls || secure ? make_tls(options.tls.value_or(TlsOptions{})) : nullptr,
          .sasl = options.sasl ? make_sasl(*options.sasl) : nullptr};
}

ClientCore::ClientCore(const asio::any_io_executor& executor, asio::any_io_executor callbacks,
                       ClientOptions options, Security security, std::shared_ptr<void> keep_alive)
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
      security_{std::move(security)},
      sessions_{*this, std::string{without_chroot(options_.servers)},
                for_a_session(options_.credentials)},
      timer_{strand_},
      follower_{options_.follow_ensemble ? std::make_unique<EnsembleFollower>(*this) : nullptr} {}

ClientCore::~ClientCore() = default;

// -- Sessions -------------------------------------------------------------------------------------

void ClientCore::start() {
  if (const error_code error = boot_timers_->open()) {
    log(LogLevel::warning, "no timerfd of CLOCK_BOOTTIME (" + error.message() +
                               "): after this machine was suspended holders hear of a loss late");
  }
  if (options_.tls && !options_.tls->verify_hostname) {
    log(LogLevel::warning,
        "tls.verify_hostname is off: anyone with a certificate of a trusted "
        "authority can be the server");
  }
  sessions_.begin();
}

void ClientCore::on_session_state(SessionState state, const SessionInfo& info) {
  const bool same_session = info.id != 0 && info.id == session_info().id;
  connected_ = state == SessionState::connected;
  next_to_resume_ = 0;
  switch (state) {
    case SessionState::connected:
      set_session_info(info);
      deletes_.resume();  // before any other request is sent on this connection
      set_connection_state(same_session ? ConnectionState::reconnected
                                        : ConnectionState::connected);
      next_to_resume_ = 1;
      resume_operations();
      if (follower_) follower_->on_connected();
      break;
    case SessionState::connecting:
      if (is_connected(connection_state())) set_connection_state(ConnectionState::suspended);
      break;
    case SessionState::expired:
    case SessionState::auth_failed:
    case SessionState::auth_required:
    case SessionState::identity_refused: on_session_over(); break;
    case SessionState::closed:
      set_session_info(info);
      set_connection_state(ConnectionState::closed);
      break;
  }
}

void ClientCore::on_answer() {
  sessions_.on_answer();
  if (next_to_resume_ == 0 || std::exchange(resume_scheduled_, true)) return;
  // resume_operations() is posted, not called: the answer may be the last one of a connection whose
  // loss is noticed next.
  asio::post(strand_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->resume_scheduled_ = false;
    self->resume_operations();
  });
}

void ClientCore::resume_operations() {
  // After an outage there may be a request for each of thousands of waiters. Sending more than a
  // server works on at once (its globalOutstandingLimit is 1000) would only delay the beats.
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
  deletes_.session_over(sessions_.current().id());
  clear_session_id();
  set_connection_state(ConnectionState::lost);
}

void ClientCore::on_session_given_up() {
  // The pending deletes stay: the servers may keep the nodes of this session for a while.
  connected_ = false;
  clear_session_id();
  late_creates_.session_retired();
}

void ClientCore::clear_session_id() {
  const std::lock_guard lock{mutex_};
  info_.id = 0;
}

void ClientCore::set_session_info(const SessionInfo& info) {
  const std::lock_guard lock{mutex_};
  info_ = info;
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
  auto change = connection_.set(state);
  const bool bad = state == ConnectionState::suspended || state == ConnectionState::lost;
  log(bad ? LogLevel::warning : LogLevel::info,
      "connection " + std::string{to_string(state)} + where(state));
  if (observation_) observation_->tell_connection_changed(state);
  connection_.notify(std::move(change), [this](auto call) { call_back(std::move(call)); });
}

void ClientCore::wait_state(ConnectionState known, const CancellationPtr& cancellation,
                            Handler<ConnectionState> handler) {
  const ConnectionState now = connection_state();
  // A closed client never changes its state again, so the wait would never end.
  if (now == ConnectionState::closed && known == now) return std::move(handler)(Errc::closed, now);
  connection_.wait(now, known, cancellation, std::move(handler));
}

SessionInfo ClientCore::session_info() const {
  const std::lock_guard lock{mutex_};
  return info_;
}

void ClientCore::log(LogLevel level, std::string message) {
  if (!options_.log) return;
  // The message is escaped here, in one place: other people choose the names of nodes and the texts
  // of servers.
  message = in_one_line(message);
  asio::post(callbacks_, [self = shared_from_this(), level, message = std::move(message)] {
    try {
      self->options_.log(level, message);
    } catch (...) {
      // A log that cannot be written must not end the process, and the failure cannot be reported
      // elsewhere.
    }
  });
}

std::string ClientCore::user_path(std::string_view full_path) const {
  return prefix_.strip(full_path).value_or(std::string{full_path});
}

void ClientCore::call_observer(std::function<void()> call) {
  if (forked()) return;
  call_back([self = shared_from_this(), call = std::move(call)] { call(); });
}

Service& ClientCore::use_service(
    std::type_index type,
    const std::function<std::unique_ptr<Service>(asio::any_io_executor strand)>& make) {
  const std::lock_guard lock{mutex_};
  auto& service = services_[type];
  if (!service) {
    service = make(strand_);
    if (services_end_) {
      asio::post(strand_,
                 [self = shared_from_this(), made = service.get()] { made->begin_shutdown(); });
    }
  }
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

void ClientCore::finish_operations(const error_code& error) {
  for (const auto& operation : operations()) operation->finish(error);
}

// -- Leases ---------------------------------------------------------------------------------------

void ClientCore::count_hold(int change) noexcept {
  if (!drain_.count(change)) return;
  asio::post(strand_, [self = shared_from_this()] { self->drain_.cancel_timers(); });
}

// -- The end --------------------------------------------------------------------------------------

void ClientCore::begin_drain() {
  if (!drain_.begin()) return;
  on_strand([self = shared_from_this()] {
    for (Service* service : self->ending_services()) service->begin_shutdown();
  });
}

std::vector<Service*> ClientCore::ending_services() {
  const std::lock_guard lock{mutex_};
  services_end_ = true;
  std::vector<Service*> all;
  all.reserve(services_.size());
  for (const auto& [type, service] : services_) all.push_back(service.get());
  return all;
}

void ClientCore::close(std::chrono::milliseconds grace, std::function<void()> done) {
  begin_drain();
  asio::post(strand_, [self = shared_from_this(), grace, done = std::move(done)]() mutable {
    if (!std::exchange(self->closing_, true)) self->begin_close(grace);
    // The handler has a raw pointer: the drain is a member of the core, so an owning pointer would
    // keep the core alive for ever if the context never runs again.
    self->drain_.when_notified([core = self.get(), grace, done = std::move(done)]() mutable {
      core->end_sessions(grace, std::move(done));
    });
  });
}

void ClientCore::begin_close(std::chrono::milliseconds grace) {
  drain_.cut_holders_off();
  drain_.cancel_timers();
  finish_operations(Errc::closed);
  ClientSession& session = sessions_.current();
  const bool held = session.has_holds();
  session.lose_holds(LossReason::closed);
  deletes_.clear();
  late_creates_.clear();
  if (follower_) follower_->stop();
  // The servers pass the locks on as soon as the session is closed, so the holders are notified
  // first. A holder that blocks is waited for no longer than a quarter of the grace.
  if (held) notify_holders(grace / 4);
}

void ClientCore::notify_holders(std::chrono::milliseconds limit) {
  drain_.begin_notifying();
  timer_.expires_after(limit);
  timer_.async_wait([self = shared_from_this()](error_code) { self->drain_.end_notifying(); });
  // The notifications were posted to this executor before (Holder::tell_lost()). So when this
  // function runs, their turn has come, and the timer need not run out.
  asio::post(callback_executor_, [self = shared_from_this()] {
    asio::post(self->strand_, [self] { self->timer_.cancel(); });
  });
}

void ClientCore::end_sessions(std::chrono::milliseconds grace, std::function<void()> done) {
  sessions_.close(grace, [self = shared_from_this(), done = std::move(done)] {
    if (!std::exchange(self->shut_down_, true)) {
      for (Service* service : self->ending_services()) service->shutdown();
    }
    // A session that had ended before does not report `closed`.
    if (self->connection_state() != ConnectionState::closed) {
      self->set_connection_state(ConnectionState::closed);
    }
    if (done) done();
  });
}

}  // namespace custodian::detail
