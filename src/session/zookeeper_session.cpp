#include "session/zookeeper_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <random>
#include <utility>

#include "base/process_id.hpp"
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

/// One seed for all clients of a process: they begin at the same server, and processes spread over
/// the servers.
std::uint64_t seed_of_this_process() {
  static const std::uint64_t seed = std::random_device{}();
  // Processes that were forked after the first client have the same `seed`, but not the same
  // process id.
  return seed ^ static_cast<std::uint64_t>(process_id()) << 32;
}

}  // namespace

ZooKeeperSession::ZooKeeperSession(boost::asio::any_io_executor strand, SessionSettings settings,
                                   std::weak_ptr<SessionObserver> observer, Role role)
    : process_{process_id()},
      strand_{std::move(strand)},
      settings_{std::move(settings)},
      observer_{std::move(observer)},
      hosts_{parse_connection_string("connect", settings_.servers).hosts},
      resolver_{strand_},
      order_{seed_of_this_process()},
      connector_{strand_, settings_.tls, settings_.sasl,
                 [this](LogLevel level, std::string line) { log(level, std::move(line)); }},
      role_{role},
      descriptor_{strand_},
      timer_{strand_},
      reconnect_{settings_.connect_timeout} {
  info_.connection = settings_.earlier_connections;
}

ZooKeeperSession::~ZooKeeperSession() {
  if (link_) link_->abort();
}

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
  if (const error_code error = reconnect_.refusal()) return refuse(error, std::move(handler));

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
  if (reconnect_.refusal()) return;
  for (const WatchTable::Removal& removal : watches_.take_removals()) {
    const std::uint64_t id = next_operation_++;
    auto done = [this, key = removal.key](const Reply& reply) {
      // "No watcher": the watch's event is on the way, or was delivered.
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

/// 1. Hand out the results of the last call into the C client.
/// 2. Without a connection: look whether the servers refuse the session, and dial an address.
/// 3. Remove watches that no watcher waits for.
/// 4. Ask the C client what it waits for, and present accepted credentials if nothing is left to
///    send.
/// 5. Wait for the socket, or the time.
/// 6. Hand out the results of step 4, which may have ended the connection.
///
/// The handle may be gone, or closing, after steps 1 and 2: the session may have ended.
void ZooKeeperSession::pump() {
  // In the child of a fork, nothing is done, because the sockets are the parent's.
  if (!client_ || process_id() != process_) return;
  if (reconnect_.closing()) return pump_closing();
  deliver();
  if (client_ && !reconnect_.closing()) look_for_refusals();
  if (!client_ || reconnect_.closing()) return;
  if (!client_->has_connection()) return on_no_connection();
  remove_unwanted_watches();
  const Interest interest = client_->interest();
  present_accepted(interest);
  wait_for(interest);
  deliver();
  if (client_ && !client_->has_connection()) schedule_pump();
}

void ZooKeeperSession::on_no_connection() {
  // A completion or a listener may just have sent a request and so have found the end of the
  // connection. deliver() must report that end before the next connection begins.
  if (reconnect_.connected()) return schedule_pump();
  dial();
}

void ZooKeeperSession::wait_for(const Interest& interest) {
  if (interest.error) return on_interest_failed();
  descriptor_.follow(interest.descriptor);
  wait_for_socket(interest);
}

void ZooKeeperSession::wait_for_socket(const Interest& interest) {
  using Socket = Reconnect::Socket;
  auto socket = Socket::none;
  if (interest.descriptor >= 0) {
    socket = descriptor_.is_open() ? Socket::watched : Socket::unwatched;
  }
  const auto wait = reconnect_.wait(steady_clock::now(), interest.timeout, socket);
  if (wait.cut_off) give_attempt_up();
  const auto self = shared_from_this();
  if (interest.read) descriptor_.wait_readable([self] { self->work(true, false); });
  if (interest.write) descriptor_.wait_writable([self] { self->work(false, true); });
  wake_after(wait.pause);
}

void ZooKeeperSession::wake_after(milliseconds pause) {
  const auto time = steady_clock::now() + std::max(pause, milliseconds{1});
  // An early wake-up does no harm, and each reply postpones the time, so the timer rarely needs to
  // be set anew.
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
  // While the session closes, its input stays unread: see finish_closing().
  const bool reads = readable && !reconnect_.closing();
  if (reads || writable) client_->process(reads, writable);
  pump();
}

void ZooKeeperSession::deliver() {
  // The new state is looked at before the completions run: a caller that learns that its request
  // was lost must not send it again into a connection that is gone.
  const Reconnect::Sight sight = reconnect_.look(client_->state());
  // If TLS or SASL has ended the connection, the end is no refusal of the session.
  const bool is_explained = link_ && !link_->fault().empty();
  if (sight.refused && !is_explained) record_.refused(steady_clock::now());
  const auto proof = link_ ? link_->proof() : SecureLink::Proof::none_needed;
  if (sight.failed || sight.lost) drop_link();
  if (client_->has_answer()) record_.answered();
  if (client_->take_want_of_authentication()) {
    record_.unauthenticated(to_text(dialled_.endpoint), steady_clock::now());
  }
  if (sight.lost) hear_last_words();
  std::vector<Event> events = client_->take_events();
  for (Event& each : events) {
    if (auto* completed = std::get_if<event::Completed>(&each)) {
      complete(*completed);
    } else if (auto* watched = std::get_if<event::Watched>(&each)) {
      for (const auto& watcher : watches_.fire(watched->path, watched->type)) {
        watcher->on_event({}, watched->type);
      }
    } else {
      auto& logged = std::get<event::Logged>(each);
      log(damped(logged.level, loudest_), std::move(logged.message));
    }
  }
  if (sight.lost) fail_lost_operations();
  if (!client_) return;
  if (sight.failed) {
    if (sight.refused && !is_explained) log_unanswered();
    on_attempt_failed();
    on_unproven(proof);
    if (!client_) return;
  }
  if (sight.lost) on_disconnected();
  if (sight.connected) on_connected();
  if (sight.ended) on_session_over(*sight.ended);
}

LogLevel ZooKeeperSession::damped(LogLevel level, LogLevel& loudest) const {
  // Without a connection, each attempt at each address is logged, several times a second. So a line
  // keeps its level only if none before it was as loud.
  if (reconnect_.connected()) return level;
  if (level <= loudest) return LogLevel::debug;
  return loudest = level;
}

LogLevel ZooKeeperSession::damped_once_accepted() {
  const LogLevel level = damped(LogLevel::warning, loudest_secured_);
  loudest_dialled_ = std::max(loudest_dialled_, loudest_secured_);
  return level;
}

void ZooKeeperSession::complete(event::Completed& completed) {
  auto node = operations_.extract(completed.operation);
  if (node.empty()) return;
  Operation& operation = node.mapped();
  Reply& reply = completed.reply;
  reply.stamp = operation.stamp;
  if (reply.error == ServerErrc::connection_loss && record_.is_unauthenticated()) {
    // The server reads no request behind one that it has refused for this reason.
    reply.error = ServerErrc::session_closed_require_sasl_auth;
  }
  if (is_answer_of_server(reply.error)) {
    reply.stamp.acknowledged = now_by(settings_.clock);
    reply.stamp.quorum_result = operation.decided_by_quorum;
    if (record_.served()) order_.answered(dialled_.endpoint);
    if (const auto observer = observer_.lock()) observer->on_answer(reply.stamp);
  } else if (reply.error == ServerErrc::session_closed_require_sasl_auth) {
    record_.unauthenticated(to_text(dialled_.endpoint), steady_clock::now());
  }
  if (operation.watch != 0) {
    const bool armed =
        !reply.error || (operation.armed_by_no_node && reply.error == ServerErrc::no_node);
    watches_.reply_received(operation.watch, operation.watcher, armed);
  }
  std::move(operation.handler)(std::move(reply));
}

// -- Changes of state -----------------------------------------------------------------------------

void ZooKeeperSession::on_session_over(SessionState state) {
  stop_probe();
  stop_trial();
  drop_link();
  descriptor_.release();
  resolver_.cancel();
  connector_.cancel();
  stop_timer();
  client_.reset();  // an expired handle has no connection: closing it does not wait
  info_.id = 0;
  fail_operations(ServerErrc::connection_loss);
  end_watches(Errc::session_lost);
  if (reconnect_.on_end(state)) notify_state();
}

void ZooKeeperSession::stop_timer() {
  wakes_at_ = never;
  timer_.cancel();
}

void ZooKeeperSession::fail_lost_operations() {
  // The C client has completed most operations, but not those whose send failed just now, nor those
  // whose event could not be made.
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

void ZooKeeperSession::notify_state() {
  if (const auto observer = observer_.lock()) observer->on_state(reconnect_.state(), info_);
}

void ZooKeeperSession::log(LogLevel level, std::string message) {
  if (const auto observer = observer_.lock()) observer->on_log(level, std::move(message));
}

}  // namespace custodian::detail

namespace custodian {

std::shared_ptr<Session> make_zookeeper_session(boost::asio::any_io_executor strand,
                                                SessionSettings settings,
                                                std::weak_ptr<SessionObserver> observer) {
  // A session factory of the user's own may not have passed `tls` on.
  if (!settings.tls && detail::parse_connection_string("connect", settings.servers).secure) {
    throw Error{Errc::invalid_argument, "connect", "",
                "servers: secure:// needs SessionSettings::tls, which a client passes to its "
                "session factory"};
  }
  return std::make_shared<detail::ZooKeeperSession>(std::move(strand), std::move(settings),
                                                    std::move(observer));
}

}  // namespace custodian
