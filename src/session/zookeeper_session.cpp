#include "session/zookeeper_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "session/credential_trial.hpp"
#include "session/probe.hpp"

namespace custodian::detail {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

struct WatchRequest {
  std::shared_ptr<Watcher> watcher;
  const std::string* path = nullptr;
  WatchKind kind = WatchKind::data;
};

WatchRequest watch_request(const Request& request) {
  if (const auto* get = std::get_if<request::Get>(&request)) {
    return {get->watcher, &get->path, WatchKind::data};
  }
  if (const auto* exists = std::get_if<request::Exists>(&request)) {
    return {exists->watcher, &exists->path, WatchKind::data};
  }
  if (const auto* list = std::get_if<request::GetChildren>(&request)) {
    return {list->watcher, &list->path, WatchKind::children};
  }
  return {};
}

}  // namespace

ZooKeeperSession::ZooKeeperSession(boost::asio::any_io_executor strand, SessionSettings settings,
                                   std::weak_ptr<SessionObserver> observer, Role role)
    : strand_{std::move(strand)},
      settings_{std::move(settings)},
      observer_{std::move(observer)},
      hosts_{parse_connection_string("connect", settings_.servers).hosts},
      resolver_{strand_},
      role_{role},
      descriptor_{strand_},
      timer_{strand_} {
  info_.connection = settings_.earlier_connections;
}

ZooKeeperSession::~ZooKeeperSession() = default;

void ZooKeeperSession::start() { resolve(); }

Session::Load ZooKeeperSession::load() const { return {operations_.size(), watches_.size()}; }

// -- Requests -------------------------------------------------------------------------------------

void ZooKeeperSession::submit(Request request, ReplyHandler handler) {
  const auto refuse = [this](error_code error, ReplyHandler refused) {
    Reply reply;
    reply.error = error;
    boost::asio::post(strand_, [refused = std::move(refused), reply = std::move(reply)]() mutable {
      std::move(refused)(std::move(reply));
    });
  };
  if (closing_) return refuse(Errc::closed, std::move(handler));
  if (state_ != SessionState::connected || retired_) {
    return refuse(Errc::not_connected, std::move(handler));
  }

  const std::uint64_t id = next_operation_++;
  Operation operation{std::move(handler)};
  const WatchRequest watch = watch_request(request);
  if (watch.watcher) {
    operation.watcher = watch.watcher;
    operation.watch = watches_.request_sent(*watch.path, watch.kind, watch.watcher);
    operation.armed_by_no_node = std::holds_alternative<request::Exists>(request);
  }
  operation.decided_by_quorum = is_decided_by_quorum(request);
  operation.stamp.connection = info_.connection;
  operation.stamp.sent = now_by(settings_.clock);
  if (const error_code error =
          client_->submit(request, id, operation.watch == 0 ? Arms::nothing : Arms::a_watch)) {
    if (operation.watch != 0) watches_.reply_received(operation.watch, watch.watcher, false);
    return refuse(error, std::move(operation.handler));
  }
  operations_.emplace(id, std::move(operation));
  record_.asked();
  schedule_pump();
}

void ZooKeeperSession::unwatch(const std::shared_ptr<Watcher>& watcher) {
  watches_.cancel(watcher);
  schedule_pump();
}

void ZooKeeperSession::remove_unwanted_watches() {
  if (state_ != SessionState::connected || closing_ || retired_) return;
  for (const WatchTable::Removal& removal : watches_.take_removals()) {
    const std::uint64_t id = next_operation_++;
    auto done = [this, key = removal.key](const Reply& reply) {
      // "No watcher": its event is on the way, or has gone by.
      if (!reply.error || reply.error == ServerErrc::no_watcher) {
        watches_.removed(key);
      } else {
        watches_.removal_failed(key);
      }
    };
    if (const error_code error = client_->remove_watch(removal.path, removal.kind, id)) {
      Reply reply;
      reply.error = error;
      done(reply);
    } else {
      operations_.emplace(id, Operation{std::move(done)});
    }
  }
}

// -- The loop -------------------------------------------------------------------------------------

void ZooKeeperSession::schedule_pump() {
  if (std::exchange(pump_scheduled_, true)) return;
  boost::asio::post(strand_, [self = shared_from_this()] {
    self->pump_scheduled_ = false;
    self->pump();
  });
}

void ZooKeeperSession::pump() {
  if (!client_) return;
  if (closing_) return pump_closing();
  deliver();
  if (client_ && !closing_) look_for_refusals();
  if (!client_ || closing_) return;
  remove_unwanted_watches();
  // A connection that begins in this call may have its handshake sent in it.
  const auto before = now_by(settings_.clock);
  const Interest interest = client_->interest();
  present_accepted(interest);
  wait_for(interest, before);
  deliver();
}

void ZooKeeperSession::wait_for(const Interest& interest, BootClock::time_point asked) {
  if (interest.error) {
    if (client_->state() == HandleState::connected) {
      // A ping could not be sent, and the library has not drawn the conclusion: now it does.
      descriptor_.shut_down();
      client_->process(true, false);
    }
    // No server could be reached just now; the library asks for no pause of its own.
    descriptor_.release();
    constexpr int longest_doubling = 6;
    const int pause = 20 << std::min(failures_++, longest_doubling);
    wake_after(
        milliseconds{pause / 2 + static_cast<int>(random_() % static_cast<unsigned>(pause))});
    if (!resolver_.busy()) resolve();
    return;
  }
  if (descriptor_.follow(interest.descriptor)) {
    connecting_since_ = steady_clock::now();
    handshake_ = asked;
    cut_off_ = false;
    record_.attempted(steady_clock::now());
  }
  milliseconds pause = interest.timeout;
  if (interest.descriptor >= 0 && !descriptor_.is_open()) {
    // Out of descriptors, for one: nothing tells us of input, so look again soon.
    pause = std::min(pause, milliseconds{100});
  }
  if (state_ != SessionState::connected && descriptor_.is_open()) {
    // The library would give a silent address two thirds of the session timeout.
    const auto waited =
        std::chrono::duration_cast<milliseconds>(steady_clock::now() - connecting_since_);
    if (waited >= settings_.connect_timeout) {
      cut_off_ = true;
      descriptor_.shut_down();
    } else {
      pause = std::min(pause, settings_.connect_timeout - waited);
    }
  }
  const auto self = shared_from_this();
  if (interest.read) descriptor_.wait_readable([self] { self->work(true, false); });
  if (interest.write) descriptor_.wait_writable([self] { self->work(false, true); });
  wake_after(pause);
}

void ZooKeeperSession::wake_after(milliseconds pause) {
  const auto time = steady_clock::now() + std::max(pause, milliseconds{1});
  // Too early does no harm, and each reply puts the time off: most need not set the timer anew.
  if (wakes_at_ <= time) return;
  wakes_at_ = time;
  timer_.expires_at(time);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    self->wakes_at_ = never;
    self->pump();
  });
}

void ZooKeeperSession::work(bool readable, bool writable) {
  if (!client_) return;
  // While closing, what there is to read stays unread: see finish_closing().
  if (!closing_ || writable) client_->process(readable && !closing_, writable);
  pump();
}

void ZooKeeperSession::deliver() {
  const HandleState now = client_->state();
  observe_attempt(now);
  if (client_->has_answer()) record_.answered();
  std::vector<Event> events = client_->take_events();
  const bool was_connected = state_ == SessionState::connected;
  const bool lost_connection = was_connected && now != HandleState::connected;
  // Before the completions: who learns that its request was lost must not send it again into a
  // connection that is gone.
  if (lost_connection) state_ = SessionState::connecting;
  for (Event& each : events) {
    if (auto* completed = std::get_if<event::Completed>(&each)) {
      complete(*completed);
    } else if (auto* watched = std::get_if<event::Watched>(&each)) {
      for (const auto& watcher : watches_.fire(watched->path, watched->type)) {
        watcher->on_event({}, watched->type);
      }
    } else {
      auto& logged = std::get<event::Logged>(each);
      log(damped(logged.level), std::move(logged.message));
    }
  }
  if (lost_connection) fail_lost_operations();
  if (!client_) return;
  if (lost_connection) on_disconnected();
  if (now == HandleState::connected && !was_connected) on_connected();
  if (now == HandleState::expired) on_session_over(SessionState::expired);
  if (now == HandleState::auth_failed) on_session_over(SessionState::auth_failed);
}

LogLevel ZooKeeperSession::damped(LogLevel level) {
  // While it looks for a server, the library says so of each address, several times a second.
  if (state_ == SessionState::connected) return level;
  if (level <= loudest_) return LogLevel::debug;
  return loudest_ = level;
}

void ZooKeeperSession::complete(event::Completed& completed) {
  auto node = operations_.extract(completed.operation);
  if (node.empty()) return;
  Operation& operation = node.mapped();
  Reply& reply = completed.reply;
  reply.stamp = operation.stamp;
  if (is_answer_of_server(reply.error)) {
    reply.stamp.acknowledged = now_by(settings_.clock);
    reply.stamp.quorum_result = operation.decided_by_quorum;
    if (const auto observer = observer_.lock()) observer->on_answer(reply.stamp);
  }
  if (operation.watch != 0) {
    const bool armed =
        !reply.error || (operation.armed_by_no_node && reply.error == ServerErrc::no_node);
    watches_.reply_received(operation.watch, operation.watcher, armed);
  }
  std::move(operation.handler)(std::move(reply));
}

// -- Changes of state -----------------------------------------------------------------------------

void ZooKeeperSession::on_connected() {
  failures_ = 0;
  record_.connected(steady_clock::now(), client_->session().timeout);
  // The library restores them by itself.
  if (watches_.armed_bytes() > 0) record_.asked();
  stop_probe();
  loudest_ = LogLevel::debug;
  const std::uint64_t connection = info_.connection + 1;
  const std::int64_t previous = info_.id;
  info_ = client_->session();
  info_.connection = connection;
  info_.handshake = handshake_;
  if (info_.timeout < settings_.session_timeout && info_.id != previous) {
    log(LogLevel::warning, "the server shortened the session timeout from " +
                               std::to_string(settings_.session_timeout.count()) + " ms to " +
                               std::to_string(info_.timeout.count()) +
                               " ms (its maxSessionTimeout)");
  }
  set_state(SessionState::connected);
  schedule_pump();
}

void ZooKeeperSession::on_disconnected() {
  using EndedBy = ConnectionRecord::EndedBy;
  record_.disconnected(steady_clock::now(), cut_off_ ? EndedBy::us : EndedBy::peer);
  set_state(SessionState::connecting);
  if (!retired_ && !closing_) drop_excess_watches();
  if (!retired_ && !closing_ && record_.never_answers(steady_clock::now())) {
    return give_up(
        "connections end before any request on them is answered, though no watch was restored on "
        "them; do the servers accept requests as long as this client sends? "
        "(ClientOptions::max_request_size is " +
        std::to_string(settings_.max_request_size) + "; theirs is jute.maxbuffer)");
  }
  // Addresses change, in a container cluster for one: look the names up again.
  if (!resolver_.busy()) resolve();
}

void ZooKeeperSession::on_session_over(SessionState state) {
  stop_probe();
  stop_trial();
  descriptor_.release();
  resolver_.cancel();
  stop_timer();
  client_.reset();  // an expired handle has no connection: closing it does not wait
  info_.id = 0;
  fail_operations(ServerErrc::connection_loss);
  end_watches(Errc::session_lost);
  if (!closing_) set_state(state);
}

void ZooKeeperSession::stop_timer() {
  wakes_at_ = never;
  timer_.cancel();
}

void ZooKeeperSession::begin_again_after(milliseconds pause) {
  stop_timer();
  timer_.expires_after(pause);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->resolve();
  });
}

void ZooKeeperSession::fail_lost_operations() {
  // Most have been completed by the library; not those whose send failed just now, nor what could
  // not be noted.
  while (!operations_.empty()) {
    event::Completed lost{operations_.begin()->first, {}};
    lost.reply.error = ServerErrc::connection_loss;
    complete(lost);
  }
}

void ZooKeeperSession::fail_operations(error_code error) {
  for (auto& [id, operation] : std::exchange(operations_, {})) {
    Reply reply;
    reply.error = error;
    reply.stamp = operation.stamp;
    std::move(operation.handler)(std::move(reply));
  }
}

void ZooKeeperSession::end_watches(error_code error) {
  for (const auto& watcher : watches_.clear()) watcher->on_event(error, WatchEventType::deleted);
}

bool ZooKeeperSession::is_over() const {
  return state_ == SessionState::expired || state_ == SessionState::auth_failed ||
         state_ == SessionState::closed;
}

void ZooKeeperSession::set_state(SessionState state) {
  state_ = state;
  if (const auto observer = observer_.lock()) observer->on_state(state, info_);
}

void ZooKeeperSession::log(LogLevel level, std::string message) {
  if (const auto observer = observer_.lock()) observer->on_log(level, std::move(message));
}

void ZooKeeperSession::resolve() {
  resolver_.resolve(hosts_, [weak = weak_from_this()](Resolver::Result result) {
    if (const auto self = weak.lock()) self->on_resolved(std::move(result));
  });
}

void ZooKeeperSession::on_resolved(Resolver::Result result) {
  if (closing_ || is_over()) return;
  if (!result.failures.empty()) {
    log(LogLevel::warning, "could not resolve " + result.failures);
  }
  if (result.addresses.empty()) {
    if (!client_) begin_again_after(std::chrono::seconds{1});
    return;
  }
  if (!client_) {
    addresses_ = result.addresses;
    try {
      client_.emplace(addresses_, settings_);
      presented_ = settings_.credentials;
    } catch (const Error& error) {
      // No address of a family that this machine has, for one.
      log(LogLevel::error, error.what());
      return begin_again_after(std::chrono::seconds{1});
    }
    pump();
  } else if (result.addresses != addresses_) {
    addresses_ = result.addresses;
    client_->set_servers(addresses_);
    schedule_pump();
  }
}

void ZooKeeperSession::set_servers(std::string servers) {
  settings_.servers = std::move(servers);
  hosts_ = parse_connection_string("set_servers", settings_.servers).hosts;
  if (probe_) probe_->set_servers(settings_.servers);
  if (trial_) trial_->set_servers(settings_.servers);
  if (!is_over()) resolve();
}

void ZooKeeperSession::disconnect() {
  cut_off_ = true;
  descriptor_.shut_down();
}

}  // namespace custodian::detail

namespace custodian {

std::shared_ptr<Session> make_zookeeper_session(boost::asio::any_io_executor strand,
                                                SessionSettings settings,
                                                std::weak_ptr<SessionObserver> observer) {
  return std::make_shared<detail::ZooKeeperSession>(std::move(strand), std::move(settings),
                                                    std::move(observer));
}

}  // namespace custodian
