#include "fake/fake_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <utility>

namespace custodian::testing {

namespace {

std::shared_ptr<Watcher> watcher_of(const Request& request) {
  return std::visit(
      [](const auto& each) -> std::shared_ptr<Watcher> {
        if constexpr (requires { each.watcher; }) return each.watcher;
        return nullptr;
      },
      request);
}

WatchId watch_of(const Request& request) {
  const bool children = std::holds_alternative<request::GetChildren>(request);
  return {path_of(request), children ? WatchKind::children : WatchKind::data};
}

}  // namespace

FakeSession::FakeSession(std::shared_ptr<FakeServer> server, std::string client,
                         boost::asio::any_io_executor strand, SessionSettings settings,
                         std::weak_ptr<SessionObserver> observer)
    : server_{std::move(server)},
      client_{std::move(client)},
      strand_{std::move(strand)},
      settings_{std::move(settings)},
      observer_{std::move(observer)},
      timer_{strand_},
      lag_timer_{strand_} {
  info_.connection = settings_.earlier_connections;
}

void FakeSession::start() { connect_after(std::chrono::milliseconds{0}); }

Session::Load FakeSession::load() const {
  Load load{operations_.size(), 0};
  for (const auto& [id, waiting] : waiting_) load.watches += waiting.watchers.size();
  return load;
}

// -- Requests -------------------------------------------------------------------------------------

void FakeSession::submit(Request request, ReplyHandler handler) {
  if (state_ == SessionState::closed || closing_) return refuse(Errc::closed, std::move(handler));
  if (state_ != SessionState::connected || retired_) {
    return refuse(Errc::not_connected, std::move(handler));
  }
  Submission submission{client_, submissions_++, kind_of(request), path_of(request)};
  server_->record(submission);
  Fault fault;
  if (const auto plan = server_->plan()) fault = plan->on_submit(submission);

  const std::uint64_t id = next_operation_++;
  Operation operation{.handler = std::move(handler), .submission = std::move(submission)};
  operation.stamp.connection = info_.connection;
  operation.stamp.sent = now();
  operation.decided_by_quorum = is_decided_by_quorum(request);
  operation.watcher = watcher_of(request);
  if (operation.watcher) operation.watch = watch_of(request);
  const bool watches = operation.watcher != nullptr;
  if (fault.kind == FaultKind::disconnect) {
    refuse(Errc::not_connected, std::move(operation.handler));
  } else {
    operations_.emplace(id, std::move(operation));
  }
  server_->serve(connection_, request, id, watches, fault);
}

void FakeSession::refuse(error_code error, ReplyHandler handler) {
  boost::asio::post(strand_, [error, handler = std::move(handler)]() mutable {
    Reply reply;
    reply.error = error;
    std::move(handler)(std::move(reply));
  });
}

void FakeSession::receive(const FakeConnectionPtr& connection) {
  if (connection != connection_) return;  // messages of an old connection are lost
  std::optional<FakeMessage> message = server_->receive(connection);
  if (!message) return;
  // As in the C client, an event does not count: others of the same transaction may be lost with
  // the connection, and the servers must report those again.
  if (message->kind == FakeMessage::Kind::reply) seen_ = std::max(seen_, message->zxid);
  switch (message->kind) {
    case FakeMessage::Kind::reply: return on_reply(std::move(*message));
    case FakeMessage::Kind::event: return on_event(*message);
    case FakeMessage::Kind::cut: return on_cut(message->next_watches);
  }
}

void FakeSession::on_question(const FakeConnectionPtr& connection) {
  if (connection == connection_) server_->hear(connection);
}

void FakeSession::on_reply(FakeMessage message) {
  auto node = operations_.extract(message.operation);
  if (node.empty()) return;
  Operation& operation = node.mapped();
  Reply& reply = message.reply;
  reply.stamp = operation.stamp;
  if (is_answer_of_server(reply.error)) {
    reply.stamp.acknowledged = now();
    reply.stamp.quorum_result = operation.decided_by_quorum;
    if (const auto observer = observer_.lock()) observer->on_answer(reply.stamp);
  }
  if (operation.watch) {
    const bool absent = operation.submission.kind == "exists" && reply.error == ServerErrc::no_node;
    if (operation.watcher && (!reply.error || absent)) {
      Waiting& waiting = waiting_[*operation.watch];
      waiting.armed_on = absent ? ArmedOn::its_absence : ArmedOn::a_node;
      waiting.watchers.push_back(std::move(operation.watcher));
    } else {
      settle(*operation.watch);
    }
  }
  complete(std::move(operation), std::move(reply));
}

void FakeSession::complete(Operation operation, Reply reply) {
  const auto plan = server_->plan();
  if (plan) plan->before_reply(operation.submission, reply);
  std::move(operation.handler)(std::move(reply));
  if (plan) plan->after_reply(operation.submission);
}

void FakeSession::fail_operations(error_code error) {
  for (auto& [id, operation] : std::exchange(operations_, {})) {
    Reply reply;
    reply.error = error;
    reply.stamp = operation.stamp;
    complete(std::move(operation), std::move(reply));
  }
}

// -- Watches --------------------------------------------------------------------------------------

void FakeSession::on_event(const FakeMessage& message) {
  auto node = waiting_.extract(message.watch);
  if (node.empty()) return;
  for (const auto& watcher : node.mapped().watchers) watcher->on_event({}, message.event);
}

void FakeSession::unwatch(const std::shared_ptr<Watcher>& watcher) {
  for (auto& [id, operation] : operations_) {
    if (operation.watcher == watcher) operation.watcher.reset();  // on_reply() takes the watch off
  }
  for (auto& [id, waiting] : waiting_) {
    if (std::erase(waiting.watchers, watcher) == 0) continue;
    return settle(WatchId{id});
  }
}

void FakeSession::settle(const WatchId& watch) {
  const auto found = waiting_.find(watch);
  if (found != waiting_.end()) {
    if (!found->second.watchers.empty()) return;
    waiting_.erase(found);
  }
  for (const auto& [id, operation] : operations_) {
    if (operation.watch == watch) return;  // the reply to that operation decides
  }
  server_->unwatch(info_.id, watch);
}

void FakeSession::drop_watches() {
  for (const auto& [id, waiting] : std::exchange(waiting_, {})) {
    const auto event = id.kind == WatchKind::data ? WatchEventType::data_changed
                                                  : WatchEventType::children_changed;
    for (const auto& watcher : waiting.watchers) watcher->on_event({}, event);
  }
}

void FakeSession::end_watches(error_code error) {
  std::vector<std::shared_ptr<Watcher>> all;
  for (auto& [id, waiting] : std::exchange(waiting_, {})) {
    all.insert(all.end(), waiting.watchers.begin(), waiting.watchers.end());
  }
  for (auto& [id, operation] : operations_) {
    if (operation.watcher) all.push_back(std::exchange(operation.watcher, nullptr));
  }
  for (const auto& watcher : all) watcher->on_event(error, WatchEventType::deleted);
}

// -- Connections ----------------------------------------------------------------------------------

void FakeSession::connect_after(std::chrono::milliseconds pause) {
  // With a clock there is no pause: real time must not decide the order of events.
  if (settings_.clock) return connect_soon();
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error) self->connect();
  });
}

void FakeSession::connect_soon() {
  boost::asio::post(strand_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->connect();
  });
}

void FakeSession::try_again() { connect_soon(); }

void FakeSession::connect() {
  waits_ = {};
  if (closing_ || state_ != SessionState::connecting) return;
  info_.handshake = now();
  ArmedWatches watches;
  for (const auto& [id, waiting] : waiting_) watches.emplace(id, waiting.armed_on);
  auto [welcome, connection, lags] =
      server_->connect(shared_from_this(), {.client = client_,
                                            .strand = strand_,
                                            .session = info_.id,
                                            .timeout = settings_.session_timeout,
                                            .seen = seen_,
                                            .watches = std::move(watches)});
  if (welcome == FakeServer::Welcome::unreachable) {
    if (settings_.clock) {
      waits_ = boost::asio::prefer(strand_, boost::asio::execution::outstanding_work.tracked);
      return;
    }
    // The pause is never zero: a test that polls the executor until nothing is due would poll for
    // ever.
    constexpr std::chrono::milliseconds least{1};
    return connect_after(std::max(server_->options().reconnect_pause, least));
  }
  if (welcome == FakeServer::Welcome::expired) return on_session_over();
  connection_ = std::move(connection);
  if (lags) {
    lag_timer_.expires_after(server_->options().longest_lag);
    lag_timer_.async_wait([server = server_, lagging = connection_](error_code error) {
      if (!error) server->catch_up(lagging);
    });
  }
  info_.id = connection_->session;
  info_.password = std::string(16, 'p');
  info_.timeout = settings_.session_timeout;
  ++info_.connection;
  set_state(SessionState::connected);
}

void FakeSession::on_cut(NextWatches watches) {
  connection_.reset();
  state_ = SessionState::connecting;  // set first: a caller may try again at once
  fail_operations(ServerErrc::connection_loss);
  if (closing_) return;
  set_state(SessionState::connecting);
  if (watches == NextWatches::are_dropped) drop_watches();
  if (!closing_) connect_after(server_->options().reconnect_pause);
}

void FakeSession::on_session_over() {
  info_.id = 0;
  fail_operations(ServerErrc::connection_loss);
  end_watches(Errc::session_lost);
  if (!closing_) set_state(SessionState::expired);
}

void FakeSession::retire() {
  if (closing_ || std::exchange(retired_, true)) return;
  fail_operations(ServerErrc::connection_loss);
  end_watches(Errc::session_lost);
}

void FakeSession::disconnect() {
  if (connection_) server_->sever(connection_, EarlierReplies::are_lost);
}

// -- The end --------------------------------------------------------------------------------------

void FakeSession::close(std::chrono::milliseconds, std::function<void()> done) {
  if (is_over()) {
    if (done) boost::asio::post(strand_, std::move(done));
    return;
  }
  if (done) closed_.push_back(std::move(done));
  if (std::exchange(closing_, true)) return;
  boost::asio::post(strand_, [self = shared_from_this()] { self->end(); });
}

void FakeSession::end() {
  waits_ = {};
  timer_.cancel();
  lag_timer_.cancel();
  // Without a connection the servers learn nothing of the close, and the session lives until it
  // expires.
  if (connection_) server_->end_session(info_.id);
  connection_.reset();
  state_ = SessionState::connecting;
  end_watches(Errc::closed);
  fail_operations(Errc::closed);
  info_.id = 0;
  set_state(SessionState::closed);
  for (const auto& done : std::exchange(closed_, {})) done();
}

bool FakeSession::is_over() const {
  return state_ == SessionState::expired || state_ == SessionState::closed;
}

void FakeSession::set_state(SessionState state) {
  state_ = state;
  if (const auto observer = observer_.lock()) observer->on_state(state, info_);
}

}  // namespace custodian::testing
