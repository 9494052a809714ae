#include "fake/fake_server.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "fake/fake_session.hpp"

namespace custodian::testing {

// -- Sessions -------------------------------------------------------------------------------------

FakeServer::FakeServer(FakeEnsembleOptions options)
    : options_{std::move(options)},
      keeper_{options_.clock ? options_.clock->timekeeper() : nullptr} {}

std::shared_ptr<FakeServer> FakeServer::make(FakeEnsembleOptions options) {
  const auto server = std::make_shared<FakeServer>(std::move(options));
  if (server->keeper_) server->keeper_->add(server);
  return server;
}

FakeServer::Handshake FakeServer::connect(const std::shared_ptr<FakeSession>& receiver,
                                          Greeting greeting) {
  const std::lock_guard lock{mutex_};
  note_activity();
  if (!accepts(greeting.client)) {
    if (keeper_) absent_.push_back(receiver);
    return {};
  }
  end_overdue();
  std::int64_t session = greeting.session;
  const bool is_new = session == 0;
  if (is_new) session = next_session_++;
  if (!is_new && !sessions_.contains(session)) return {Welcome::expired, nullptr, false};
  ServerSession& known = sessions_[session];
  known.id = session;
  known.client = std::move(greeting.client);
  known.timeout = greeting.timeout;
  heard(known);
  const auto connection = std::make_shared<FakeConnection>(FakeConnection{
      .session = session, .strand = std::move(greeting.strand), .receiver = receiver});
  known.connection = connection;
  known.stale = std::exchange(is_new ? left_behind_ : known.next_stale, std::nullopt);
  known.watches = std::move(greeting.watches);
  fire_missed(known, known.stale ? *known.stale : tree_, greeting.seen);
  return {Welcome::accepted, connection, known.stale.has_value()};
}

bool FakeServer::accepts(const std::string& client) const {
  return running_ && !cut_off_.contains(client);
}

void FakeServer::forget_session(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (const auto connection = found->second.connection.lock()) {
    cut(connection, EarlierReplies::arrive);
  }
  sessions_.erase(found);
  std::erase_if(late_, [&](const LateRequest& each) { return each.session == session; });
  std::vector<TreeChange> changes;
  tree_.end_session(session, changes);
  fire(changes);
}

void FakeServer::end_session(std::int64_t session) {
  const std::lock_guard lock{mutex_};
  forget_session(session);
}

void FakeServer::cut(const FakeConnectionPtr& connection, EarlierReplies earlier,
                     NextWatches next_watches) {
  if (std::exchange(connection->severed, true)) return;
  if (const auto found = sessions_.find(connection->session);
      found != sessions_.end() && found->second.connection.lock() == connection) {
    found->second.connection.reset();
    found->second.stale.reset();
  }
  if (earlier == EarlierReplies::are_lost) connection->inbox.clear();
  connection->inbox.push_back({.kind = FakeMessage::Kind::cut, .next_watches = next_watches});
  // A cut ends the delays of the messages in front of it.
  for (FakeMessage& each : connection->inbox) each.turns = 0;
  wake(connection);
}

void FakeServer::sever(const FakeConnectionPtr& connection, EarlierReplies earlier) {
  const std::lock_guard lock{mutex_};
  cut(connection, earlier);
}

void FakeServer::disconnect(std::int64_t session) {
  const std::lock_guard lock{mutex_};
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (const auto connection = found->second.connection.lock()) {
    cut(connection, EarlierReplies::arrive);
  }
}

void FakeServer::set_running(bool running) {
  std::unique_lock lock{mutex_};
  running_ = running;
  if (running) {
    lock.unlock();
    return wake_absent();
  }
  for (auto& [id, session] : sessions_) {
    if (const auto connection = session.connection.lock()) cut(connection, EarlierReplies::arrive);
  }
}

void FakeServer::cut_off(const std::string& client) {
  const std::lock_guard lock{mutex_};
  cut_off_.insert(client);
  for (auto& [id, session] : sessions_) {
    const auto connection = session.connection.lock();
    if (connection && session.client == client) cut(connection, EarlierReplies::are_lost);
  }
}

void FakeServer::let_in(const std::string& client) {
  std::unique_lock lock{mutex_};
  cut_off_.erase(client);
  lock.unlock();
  wake_absent();
}

void FakeServer::leave_server_behind() {
  const std::lock_guard lock{mutex_};
  left_behind_ = tree_;
}

// -- Requests -------------------------------------------------------------------------------------

void FakeServer::serve(const FakeConnectionPtr& connection, const Request& request,
                       std::uint64_t operation, bool arms_watch, const Fault& fault) {
  const std::lock_guard lock{mutex_};
  end_overdue();
  if (connection->severed) return;
  ServerSession& session = sessions_.at(connection->session);
  note_activity();
  switch (fault.kind) {
    case FaultKind::pass:
      heard(session);
      process(session, connection, request, operation, arms_watch, 0);
      return count_for_late_requests(session.id);
    case FaultKind::delay:
      heard(session);
      process(session, connection, request, operation, arms_watch,
              fault.turns == 0 ? -1 : fault.turns);
      return count_for_late_requests(session.id);
    case FaultKind::throttle: {
      heard(session);
      FakeMessage refusal{.operation = operation, .zxid = tree_.zxid()};
      if (session.stale) refusal.zxid = session.stale->zxid();
      refusal.reply.error = ServerErrc::throttled;
      return send(connection, std::move(refusal));
    }
    case FaultKind::fail_before:
    case FaultKind::fail_after:
    case FaultKind::apply_late:
    case FaultKind::disconnect:
    case FaultKind::expire_before:
    case FaultKind::expire_after: break;
  }
  if (fault.next_server == NextServer::lags_behind) session.next_stale = tree_;
  cut(connection, fault.earlier, fault.next_watches);
  if (fault.kind == FaultKind::apply_late && is_write(request)) {
    late_.push_back({session.id, request, fault.requests_later});
  }
  if (fault.kind == FaultKind::fail_after || fault.kind == FaultKind::expire_after) {
    heard(session);
    process(session, nullptr, request, operation, false, 0);
  }
  if (fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after) {
    forget_session(connection->session);
  }
}

void FakeServer::count_for_late_requests(std::int64_t session) {
  for (auto next = late_.begin(); next != late_.end();) {
    const bool counts = next->session == session && next->requests_later != 0;
    if (!counts || --next->requests_later != 0) {
      ++next;
      continue;
    }
    apply_late(*next);
    next = late_.erase(next);
  }
}

void FakeServer::apply_late(const LateRequest& late) {
  std::vector<TreeChange> changes;
  static_cast<void>(
      tree_.apply(late.request, late.session, changes));  // no client waits for the reply
  fire(changes);
}

std::size_t FakeServer::apply_late_requests() {
  const std::lock_guard lock{mutex_};
  const std::vector<LateRequest> all = std::exchange(late_, {});
  for (const LateRequest& each : all) apply_late(each);
  return all.size();
}

void FakeServer::process(ServerSession& session, const FakeConnectionPtr& connection,
                         const Request& request, std::uint64_t operation, bool arms_watch,
                         int turns) {
  const bool is_sync = std::holds_alternative<request::Sync>(request);
  if (is_write(request) || is_sync) catch_up(session);
  std::vector<TreeChange> changes;
  FakeTree& tree = session.stale ? *session.stale : tree_;
  Reply reply = tree.apply(request, session.id, changes);
  fire(changes);  // the events of a change are sent before its reply
  if (!connection) return;
  const bool absent =
      std::holds_alternative<request::Exists>(request) && reply.error == ServerErrc::no_node;
  if (arms_watch && (!reply.error || absent)) {
    const bool children = std::holds_alternative<request::GetChildren>(request);
    session.watches[{path_of(request), children ? WatchKind::children : WatchKind::data}] =
        absent ? ArmedOn::its_absence : ArmedOn::a_node;
  }
  send(connection,
       {.operation = operation, .reply = std::move(reply), .zxid = tree.zxid(), .turns = turns});
}

void FakeServer::catch_up(ServerSession& session) {
  if (!session.stale) return;
  const FakeTree stale = *std::exchange(session.stale, std::nullopt);
  fire_missed(session, tree_, stale.zxid());
}

void FakeServer::catch_up(const FakeConnectionPtr& connection) {
  const std::lock_guard lock{mutex_};
  const auto found = sessions_.find(connection->session);
  if (found != sessions_.end() && found->second.connection.lock() == connection) {
    catch_up(found->second);
  }
}

void FakeServer::send(const FakeConnectionPtr& connection, FakeMessage message) {
  if (connection->severed) return;
  connection->inbox.push_back(std::move(message));
  wake(connection);
}

void FakeServer::wake(const FakeConnectionPtr& connection) {
  note_activity();
  if (std::exchange(connection->woken, true)) return;
  boost::asio::post(connection->strand, [weak = connection->receiver, connection] {
    if (const auto receiver = weak.lock()) receiver->receive(connection);
  });
}

std::optional<FakeMessage> FakeServer::receive(const FakeConnectionPtr& connection) {
  const std::lock_guard lock{mutex_};
  connection->woken = false;
  if (connection->inbox.empty()) return std::nullopt;
  FakeMessage& head = connection->inbox.front();
  if (head.turns < 0) return std::nullopt;
  if (head.turns > 0) {
    --head.turns;
    wake(connection);
    return std::nullopt;
  }
  FakeMessage message = std::move(head);
  connection->inbox.pop_front();
  // One message per turn, so that other work on the executor runs in between.
  if (!connection->inbox.empty()) wake(connection);
  return message;
}

void FakeServer::release_replies() {
  const std::lock_guard lock{mutex_};
  for (auto& [id, session] : sessions_) {
    const auto connection = session.connection.lock();
    if (!connection) continue;
    for (FakeMessage& each : connection->inbox) each.turns = 0;
    if (!connection->inbox.empty()) wake(connection);
  }
}

// -- Watches --------------------------------------------------------------------------------------

void FakeServer::unwatch(std::int64_t session, const WatchId& watch) {
  const std::lock_guard lock{mutex_};
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.watches.erase(watch);
  }
}

void FakeServer::fire_one(ServerSession& session, ArmedWatches::iterator watch,
                          WatchEventType type) {
  if (const auto connection = session.connection.lock()) {
    send(connection, {.kind = FakeMessage::Kind::event, .watch = watch->first, .event = type});
  }
  session.watches.erase(watch);
}

void FakeServer::fire(const std::vector<TreeChange>& changes) {
  for (const TreeChange& change : changes) {
    for (auto& [id, session] : sessions_) {
      // A disconnected session, or one on a server that lags behind, gets its event later.
      if (session.connection.expired() || session.stale) continue;
      for (const WatchKind kind : {WatchKind::data, WatchKind::children}) {
        const bool of_children = change.type == WatchEventType::children_changed;
        const bool concerned =
            change.type == WatchEventType::deleted || of_children == (kind == WatchKind::children);
        const auto watch = session.watches.find({change.path, kind});
        if (concerned && watch != session.watches.end()) {
          fire_one(session, watch, change.type);
        }
      }
    }
  }
}

void FakeServer::fire_missed(ServerSession& session, const FakeTree& tree, std::int64_t since) {
  for (auto next = session.watches.begin(); next != session.watches.end();) {
    const auto watch = next++;
    const auto& [path, kind] = watch->first;
    const FakeTree::Node* node = tree.find(path);
    std::optional<WatchEventType> event;
    if (node == nullptr) {
      if (watch->second == ArmedOn::a_node) event = WatchEventType::deleted;
    } else if (watch->second == ArmedOn::its_absence) {
      event = WatchEventType::created;
    } else if (kind == WatchKind::data && node->stat.mzxid > since) {
      event = WatchEventType::data_changed;
    } else if (kind == WatchKind::children && node->stat.pzxid > since) {
      event = WatchEventType::children_changed;
    }
    if (event) fire_one(session, watch, *event);
  }
}

std::map<std::int64_t, std::size_t> FakeServer::watches() const {
  const std::lock_guard lock{mutex_};
  std::map<std::int64_t, std::size_t> counts;
  for (const auto& [id, session] : sessions_) counts[id] = session.watches.size();
  return counts;
}

bool FakeServer::is_connected(std::int64_t session) const {
  const std::lock_guard lock{mutex_};
  const auto found = sessions_.find(session);
  return found != sessions_.end() && !found->second.connection.expired();
}

// -- What a test sets and reads -------------------------------------------------------------------

std::shared_ptr<FaultPlan> FakeServer::plan() const {
  const std::lock_guard lock{mutex_};
  return plan_;
}

void FakeServer::set_plan(std::shared_ptr<FaultPlan> plan) {
  const std::lock_guard lock{mutex_};
  plan_.swap(plan);
}

void FakeServer::record(const Submission& submission) {
  const std::lock_guard lock{mutex_};
  history_.push_back(submission);
}

std::vector<Submission> FakeServer::history() const {
  const std::lock_guard lock{mutex_};
  return history_;
}

void FakeServer::clear_history() {
  const std::lock_guard lock{mutex_};
  history_.clear();
}

}  // namespace custodian::testing
