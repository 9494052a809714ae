#include "client/client_core.hpp"

#include <utility>

#include "base/process_id.hpp"
#include "base/runs_on_this_thread.hpp"
#include "client/operation.hpp"
#include "text/in_hex.hpp"
#include "text/one_line.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

ClientCore::ClientCore(ClientState& state, std::string_view name_space)
    : state_{state}, name_space_{name_space}, prefix_{state.chroot, name_space} {}

ClientCore::~ClientCore() = default;

// -- Sessions -------------------------------------------------------------------------------------

void ClientCore::start() {
  if (const error_code error = state_.boot_timers->open()) {
    log(LogLevel::warning, "no timerfd of CLOCK_BOOTTIME (" + error.message() +
                               "): after this machine was suspended holders hear of a loss late");
  }
  if (state_.options.tls && !state_.options.tls->verify_hostname) {
    log(LogLevel::warning,
        "tls.verify_hostname is off: anyone with a certificate of a trusted "
        "authority can be the server");
  }
  state_.sessions.begin();
}

void ClientCore::on_session_state(SessionState state, const SessionInfo& info) {
  const bool same_session = info.id != 0 && info.id == session_info().id;
  state_.connected = state == SessionState::connected;
  state_.next_to_resume = 0;
  switch (state) {
    case SessionState::connected:
      set_session_info(info);
      state_.deletes.resume();  // before any other request is sent on this connection
      set_connection_state(same_session ? ConnectionState::reconnected
                                        : ConnectionState::connected);
      state_.next_to_resume = 1;
      resume_operations();
      if (state_.follower) state_.follower->on_connected();
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
  state_.sessions.on_answer();
  if (state_.next_to_resume == 0 || std::exchange(state_.resume_scheduled, true)) return;
  // resume_operations() is posted, not called: the answer may be the last one of a connection whose
  // loss is noticed next.
  asio::post(state_.strand, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->state_.resume_scheduled = false;
    self->resume_operations();
  });
}

void ClientCore::resume_operations() {
  // After an outage, there may be a request for each of thousands of waiters. Sending more than a
  // server works on at once (its globalOutstandingLimit is 1000) would only delay the beats.
  constexpr std::size_t most_at_once = 500;
  while (state_.next_to_resume != 0 && state_.connected &&
         session().load().operations < most_at_once) {
    const auto next = state_.operations.lower_bound(state_.next_to_resume);
    if (next == state_.operations.end()) {
      state_.next_to_resume = 0;
      return;
    }
    state_.next_to_resume = next->first + 1;
    if (const auto operation = next->second->weak_from_this().lock()) operation->on_connected();
  }
}

void ClientCore::on_session_over() {
  state_.deletes.session_over(state_.sessions.current().id());
  clear_session_id();
  set_connection_state(ConnectionState::lost);
}

void ClientCore::on_session_given_up() {
  // The pending deletes stay: the servers may keep the nodes of this session for a while.
  state_.connected = false;
  clear_session_id();
  state_.late_creates.session_retired();
}

void ClientCore::clear_session_id() {
  const std::lock_guard lock{state_.mutex};
  state_.info.id = 0;
}

void ClientCore::set_session_info(const SessionInfo& info) {
  const std::lock_guard lock{state_.mutex};
  state_.info = info;
}

bool ClientCore::forked() const noexcept { return process_id() != state_.process; }

bool ClientCore::is_own_thread() const {
  return state_.strand.running_in_this_thread() ||
         runs_on_this_thread(state_.strand.get_inner_executor()) ||
         runs_on_this_thread(state_.callback_executor);
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
  auto change = state_.connection.set(state);
  const bool bad = state == ConnectionState::suspended || state == ConnectionState::lost;
  log(bad ? LogLevel::warning : LogLevel::info,
      "connection " + std::string{to_string(state)} + where(state));
  if (state_.observation) state_.observation->tell_connection_changed(state);
  state_.connection.notify(std::move(change), [this](auto call) { call_back(std::move(call)); });
}

void ClientCore::wait_state(ConnectionState known, const CancellationPtr& cancellation,
                            Handler<ConnectionState> handler) {
  const ConnectionState now = connection_state();
  // A closed client never changes its state again, so the wait would never end.
  if (now == ConnectionState::closed && known == now) return std::move(handler)(Errc::closed, now);
  state_.connection.wait(now, known, cancellation, std::move(handler));
}

SessionInfo ClientCore::session_info() const {
  const std::lock_guard lock{state_.mutex};
  return state_.info;
}

void ClientCore::log(LogLevel level, std::string message) {
  if (!state_.log_gate.has_sink()) return;
  // The message is escaped here, in one place: other people choose the names of nodes and the texts
  // of servers.
  message = in_one_line(message);
  asio::post(state_.callbacks, [self = shared_from_this(), level, message = std::move(message)] {
    // The gate of a forked child may have been copied while it was locked.
    if (!self->forked()) self->state_.log_gate.write(level, message);
  });
}

void ClientCore::end_log(Deadline deadline) { state_.log_gate.close(deadline); }

std::string ClientCore::user_path(std::string_view full_path) const {
  return prefix_.strip(full_path).value_or(std::string{full_path});
}

std::string ClientCore::path_for_options(std::string_view path) const {
  return this == &own() ? std::string{path} : own().user_path(prefix_.add(path));
}

ClientCore& ClientCore::view(std::string_view name_space) {
  const PathPrefix prefix{state_.chroot, name_space};
  if (prefix == own().prefix()) return own();
  const std::lock_guard lock{state_.mutex};
  auto& view = state_.views[prefix.root()];
  if (!view) view = std::make_unique<ClientCore>(state_, name_space);
  return *view;
}

void ClientCore::call_observer(std::function<void()> call) {
  if (forked()) return;
  call_back([self = shared_from_this(), call = std::move(call)] { call(); });
}

Service& ClientCore::use_service(
    std::type_index type,
    const std::function<std::unique_ptr<Service>(asio::any_io_executor strand)>& make) {
  const std::lock_guard lock{state_.mutex};
  auto& service = state_.services[{this, type}];
  if (!service) {
    service = make(state_.strand);
    if (state_.services_end) {
      asio::post(state_.strand,
                 [self = shared_from_this(), made = service.get()] { made->begin_shutdown(); });
    }
  }
  return *service;
}

// -- Operations -----------------------------------------------------------------------------------

void ClientCore::enter(Operation& operation) {
  operation.number_ = ++state_.next_operation;
  state_.operations.emplace(operation.number_, &operation);
}

void ClientCore::leave(Operation& operation) noexcept {
  state_.operations.erase(std::exchange(operation.number_, 0));
}

std::vector<std::shared_ptr<Operation>> ClientCore::operations() const {
  std::vector<std::shared_ptr<Operation>> all;
  all.reserve(state_.operations.size());
  for (const auto& [number, operation] : state_.operations) {
    if (auto alive = operation->weak_from_this().lock()) all.push_back(std::move(alive));
  }
  return all;
}

void ClientCore::finish_operations(const error_code& error) {
  for (const auto& operation : operations()) operation->finish(error);
}

// -- Leases ---------------------------------------------------------------------------------------

void ClientCore::count_hold(int change) noexcept {
  if (!state_.drain.count(change)) return;
  asio::post(state_.strand, [self = shared_from_this()] { self->state_.drain.cancel_timers(); });
}

// -- The end --------------------------------------------------------------------------------------

void ClientCore::begin_drain() {
  if (!state_.drain.begin()) return;
  on_strand([self = shared_from_this()] {
    for (Service* service : self->ending_services()) service->begin_shutdown();
  });
}

std::vector<Service*> ClientCore::ending_services() {
  const std::lock_guard lock{state_.mutex};
  state_.services_end = true;
  std::vector<Service*> all;
  all.reserve(state_.services.size());
  for (const auto& [key, service] : state_.services) all.push_back(service.get());
  return all;
}

void ClientCore::close(std::chrono::milliseconds grace, std::function<void()> done) {
  begin_drain();
  asio::post(state_.strand, [self = shared_from_this(), grace, done = std::move(done)]() mutable {
    if (!std::exchange(self->state_.closing, true)) self->begin_close(grace);
    // The handler has a raw pointer: the drain is a part of the client's state, so an owning
    // pointer would keep the state alive for ever if the context never runs again.
    self->state_.drain.when_notified([core = self.get(), grace, done = std::move(done)]() mutable {
      core->end_sessions(grace, std::move(done));
    });
  });
}

void ClientCore::begin_close(std::chrono::milliseconds grace) {
  state_.drain.cut_holders_off();
  state_.drain.cancel_timers();
  finish_operations(Errc::closed);
  ClientSession& session = state_.sessions.current();
  const bool held = session.has_holds();
  session.lose_holds(LossReason::closed);
  state_.deletes.clear();
  state_.late_creates.clear();
  if (state_.follower) state_.follower->stop();
  // The servers pass the locks on as soon as the session is closed, so the holders are notified
  // first. A holder that blocks delays the close by a quarter of the grace at most.
  if (held) notify_holders(grace / 4);
}

void ClientCore::notify_holders(std::chrono::milliseconds limit) {
  state_.drain.begin_notifying();
  state_.timer.expires_after(limit);
  state_.timer.async_wait(
      [self = shared_from_this()](error_code) { self->state_.drain.end_notifying(); });
  // The notifications were posted to this executor before (Holder::tell_lost()). So when this
  // function runs, their turn has come, and the timer need not run out.
  asio::post(state_.callback_executor, [self = shared_from_this()] {
    asio::post(self->state_.strand, [self] { self->state_.timer.cancel(); });
  });
}

void ClientCore::end_sessions(std::chrono::milliseconds grace, std::function<void()> done) {
  state_.sessions.close(grace, [self = shared_from_this(), done = std::move(done)] {
    if (!std::exchange(self->state_.shut_down, true)) {
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
