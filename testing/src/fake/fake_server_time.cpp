// The effects of time on the sessions of a FakeServer with a clock.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "fake/fake_server.hpp"
#include "fake/fake_session.hpp"

namespace custodian::testing {

void FakeServer::heard(ServerSession& session) { session.heard = now(); }

void FakeServer::hear(const FakeConnectionPtr& connection) {
  const std::lock_guard lock{mutex_};
  end_overdue();
  if (connection->severed) return;
  const auto found = sessions_.find(connection->session);
  if (found != sessions_.end()) heard(found->second);
}

void FakeServer::ask(ServerSession& session, const FakeConnectionPtr& connection) {
  session.asked = now();
  note_activity();
  boost::asio::post(connection->strand, [weak = connection->receiver, connection] {
    if (const auto receiver = weak.lock()) receiver->on_question(connection);
  });
}

void FakeServer::wake_absent() {
  std::vector<std::weak_ptr<FakeSession>> absent;
  {
    const std::lock_guard lock{mutex_};
    absent = std::exchange(absent_, {});
  }
  note_activity();
  for (const auto& each : absent) {
    if (const auto session = each.lock()) session->try_again();
  }
}

std::optional<FakeServer::Time> FakeServer::next_due() const {
  const std::lock_guard lock{mutex_};
  std::optional<Time> next;
  for (const auto& [id, session] : sessions_) {
    const Time due = session.connection.expired()
                         ? session.end()
                         : std::min(session.end(), session.next_question());
    next = std::min(next.value_or(due), due);
  }
  return next;
}

void FakeServer::run_due(Time now) {
  const std::lock_guard lock{mutex_};
  for (auto& [id, session] : sessions_) {
    if (session.end() <= now) continue;
    if (const auto connection = session.connection.lock()) {
      if (session.next_question() <= now) ask(session, connection);
    }
  }
  end_sessions([now](Time end) { return end <= now; });
}

void FakeServer::end_overdue() {
  if (!keeper_) return;
  end_sessions([now = now()](Time end) { return end < now; });
}

void FakeServer::end_sessions(const std::function<bool(Time end)>& is_over) {
  std::vector<std::pair<Time, std::int64_t>> ended;
  for (const auto& [id, session] : sessions_) {
    if (is_over(session.end())) ended.emplace_back(session.end(), id);
  }
  std::ranges::sort(ended);
  for (const auto& [end, id] : ended) forget_session(id);
}

}  // namespace custodian::testing
