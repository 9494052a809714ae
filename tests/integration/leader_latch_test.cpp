#include "custodian/recipes/leader_latch.hpp"

#include <algorithm>
#include <thread>

#include "clusters.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "leadership.hpp"

namespace custodian::tests {
namespace {

using namespace std::chrono_literals;
using enum Leadership;
using State = LeaderLatch::State;
using CloseMode = LeaderLatch::CloseMode;

constexpr auto path = "/election";

/// A candidate with a session of its own.
struct Candidate {
  explicit Candidate(const TestClient& root, std::string id, std::string servers = connect_string(),
                     LeaseOptions lease = {})
      : client{beside(root, std::move(servers))},
        latch{client, path, {.id = std::move(id), .lease = lease}},
        listening{latch.on_leadership(heard.listener())} {}

  Client client;
  Heard heard;
  LeaderLatch latch;
  Subscription listening;
};

/// Starts it, and waits until it stands in the queue.
void stand(Candidate& candidate, std::size_t as_number) {
  candidate.latch.start();
  REQUIRE(eventually([&] { return candidate.latch.participants().size() == as_number; }));
}

TEST_CASE("the first candidate leads, and the next when it closes its latch, in order") {
  TestClient root{"latch-order"};
  std::list<Candidate> candidates;
  for (int i = 0; i < 4; ++i) {
    candidates.emplace_back(root, "candidate " + std::to_string(i));
    stand(candidates.back(), static_cast<std::size_t>(i) + 1);
  }
  FencingToken latest;
  while (!candidates.empty()) {
    Candidate& leader = candidates.front();
    const Lease leadership = leader.latch.wait_for(patience);
    REQUIRE(leadership);
    CHECK(leader.latch.has_leadership());
    CHECK(leadership.token() > latest);
    latest = leadership.token();
    for (Candidate& each : candidates) CHECK(each.latch.has_leadership() == (&each == &leader));
    const auto seen = candidates.back().latch.leader();
    REQUIRE(seen);
    CHECK(seen->identity == leader.latch.id());
    CHECK(seen->token == leadership.token());
    candidates.pop_front();
  }
}

TEST_CASE("the participants of an election are those who stand, the leader first") {
  TestClient root{"latch-participants"};
  Candidate first{root, "first"};
  CHECK(first.latch.participants().empty());  // nobody has created the path
  CHECK_FALSE(first.latch.leader());
  stand(first, 1);
  Candidate second{root, "second"};
  Candidate bystander{root, "bystander"};
  stand(second, 2);
  const auto participants = bystander.latch.participants();
  REQUIRE(participants.size() == 2);
  CHECK(participants[0].identity == "first");
  CHECK(participants[0].session == first.client.session().id);
  CHECK(participants[1].identity == "second");
  second.latch.close();
  CHECK(eventually([&] { return bystander.latch.participants().size() == 1; }));
}

TEST_CASE("a candidate without an id goes by its client's identity") {
  TestClient root{"latch-id"};
  LeaderLatch latch{*root, path};
  CHECK(latch.id() == root->identity());
  latch.start();
  REQUIRE(latch.wait_for(patience));
  CHECK(latch.leader()->identity == root->identity());
}

TEST_CASE("a leader whose node is deleted is told, and stands again") {
  TestClient root{"latch-vanished"};
  Candidate first{root, "first"};
  stand(first, 1);
  const Lease leadership = first.latch.wait_for(patience);
  REQUIRE(leadership);
  Candidate second{root, "second"};
  stand(second, 2);
  root->remove(leadership.node());
  REQUIRE(second.latch.wait_for(patience));
  REQUIRE(eventually([&] { return first.heard.is({gained, ended}); }));
  CHECK(leadership.state() == LeaseState::lost);
  REQUIRE(eventually([&] { return first.latch.participants().size() == 2; }));
  CHECK(first.latch.participants()[1].identity == "first");
  second.latch.close();
  REQUIRE(first.latch.wait_for(patience));
  CHECK(eventually([&] { return first.heard.is({gained, ended, gained}); }));
}

TEST_CASE("a candidate whose node is deleted stands again, behind the others") {
  TestClient root{"latch-vanished-candidate"};
  Candidate first{root, "first"};
  Candidate second{root, "second"};
  Candidate third{root, "third"};
  stand(first, 1);
  stand(second, 2);
  stand(third, 3);
  root->remove(first.latch.participants()[1].node);
  REQUIRE(eventually([&] {
    const auto now = first.latch.participants();
    return now.size() == 3 && now[1].identity == "third" && now[2].identity == "second";
  }));
  CHECK(first.heard.is({gained}));
}

TEST_CASE("the whole path is wiped: somebody leads again, and only one") {
  TestClient root{"latch-wiped"};
  std::list<Candidate> candidates;
  for (int i = 0; i < 3; ++i) {
    candidates.emplace_back(root, std::to_string(i));
    stand(candidates.back(), static_cast<std::size_t>(i) + 1);
  }
  REQUIRE(candidates.front().latch.wait_for(patience));
  const auto leaders = [&] {
    return std::ranges::count_if(candidates,
                                 [](auto& each) { return each.latch.has_leadership(); });
  };
  for (int times = 0; times < 3; ++times) {
    const auto before = candidates.front().latch.leader();
    root->remove(path, {.missing = Missing::is_fine, .descendants = Descendants::are_removed});
    REQUIRE(eventually([&] {
      const auto now = candidates.front().latch.leader();
      return now && before && now->token > before->token && leaders() == 1 &&
             candidates.front().latch.participants().size() == 3;
    }));
  }
}

TEST_CASE("a session that is over ends the leadership before another one leads") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"latch-expired"};
  Candidate first{root, "first"};
  Candidate second{root, "second"};
  stand(first, 1);
  const Lease before = first.latch.wait_for(patience);
  REQUIRE(before);
  stand(second, 2);
  const SessionInfo session = first.client.session();
  own_server().expire_session(session.id, session.password);
  const Lease after = second.latch.wait_for(patience);
  REQUIRE(after);
  CHECK(after.token() > before.token());
  REQUIRE(eventually([&] { return first.heard.is({gained, ended}); }));
  CHECK_FALSE(first.latch.has_leadership());
  REQUIRE(eventually([&] { return first.latch.participants().size() == 2; }));
}

TEST_CASE("a leader that is cut off knows that it does not lead before another one does") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server{{.tick_time = 250ms}};
  testing::FaultProxy proxy{server.endpoint()};
  TestClient root{"latch-cut", server.connect_string()};
  ClientOptions short_session = beside(root, proxy.connect_string());
  short_session.session_timeout = 2500ms;
  short_session.touch_interval = 250ms;
  Client cut{short_session};
  LeaderLatch first{cut, path};
  first.start();
  REQUIRE(first.wait_for(patience));
  Candidate second{root, "second", server.connect_string()};
  std::atomic<bool> two = false;
  Subscription watching = second.latch.on_leadership([&](Leadership now) {
    if (now == gained && first.has_leadership()) two = true;
  });
  stand(second, 2);
  proxy.refuse();
  proxy.cut();
  REQUIRE(second.latch.wait_for(patience));
  CHECK_FALSE(first.has_leadership());
  CHECK_FALSE(two);
  proxy.accept();
  REQUIRE(eventually([&] { return second.latch.participants().size() == 2; }));
  second.latch.close();
  CHECK(first.wait_for(patience));
}

TEST_CASE("a short disconnection costs the leadership under one error policy, and not the other") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient root{"latch-policies"};
  Candidate strict{
      root, "strict", proxy.connect_string(), {.loss_policy = LossPolicy::on_suspended}};
  stand(strict, 1);
  Lease of_strict = strict.latch.wait_for(patience);
  REQUIRE(of_strict);
  proxy.cut();
  REQUIRE(eventually([&] { return strict.heard.is({gained, ended}); }));
  CHECK(of_strict.loss_reason() == LossReason::suspended);
  of_strict.release();  // until then its node is in the way
  REQUIRE(eventually([&] { return strict.heard.is({gained, ended, gained}); }));
  strict.latch.close();

  Candidate lenient{root, "lenient", proxy.connect_string()};
  lenient.latch.start();
  const Lease of_lenient = lenient.latch.wait_for(patience);
  REQUIRE(of_lenient);
  proxy.cut();
  REQUIRE(eventually(
      [&] { return lenient.client.connection_state() == ConnectionState::reconnected; }));
  CHECK(lenient.heard.is({gained}));
  CHECK(lenient.latch.leadership().token() == of_lenient.token());
}

TEST_CASE("a maximum time makes the leadership go round") {
  TestClient root{"latch-rotation"};
  Candidate first{root, "first", connect_string(), {.hold_at_most = 300ms}};
  Candidate second{root, "second", connect_string(), {.hold_at_most = 300ms}};
  stand(first, 1);
  stand(second, 2);
  REQUIRE(eventually(
      [&] { return first.heard.told().size() >= 3 && second.heard.told().size() >= 3; }));
}

TEST_CASE("closing a leading latch tells its listeners only if it is asked to") {
  TestClient root{"latch-close-modes"};
  Candidate silent{root, "silent"};
  stand(silent, 1);
  REQUIRE(eventually([&] { return silent.heard.is({gained}); }));
  silent.latch.close();
  Candidate notifying{root, "notifying"};
  notifying.latch.start();
  REQUIRE(eventually([&] { return notifying.heard.is({gained}); }));
  notifying.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return notifying.heard.is({gained, ended}); }));
  CHECK(silent.heard.is({gained}));

  Candidate waiting{root, "waiting"};
  Candidate leading{root, "leading"};
  leading.latch.start();
  REQUIRE(leading.latch.wait_for(patience));
  stand(waiting, 2);
  waiting.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return leading.latch.participants().size() == 1; }));
  CHECK(waiting.heard.told().empty());  // it had nothing to lose
}

TEST_CASE("another one leads only when the listeners of the one before have been told") {
  TestClient root{"latch-told-first"};
  Candidate first{root, "first"};
  Candidate second{root, "second"};
  stand(first, 1);
  REQUIRE(first.latch.wait_for(patience));
  stand(second, 2);
  std::atomic<bool> is_being_told = false;
  std::atomic<bool> go = false;
  const Subscription slow = first.latch.on_leadership([&](Leadership now) {
    if (now != ended) return;
    is_being_told = true;
    static_cast<void>(eventually([&] { return go.load(); }));
  });
  first.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return is_being_told.load(); }));
  CHECK_FALSE(second.latch.wait_for(100ms));
  go = true;
  CHECK(second.latch.wait_for(patience));
}

TEST_CASE("a latch is started once, and a closed one stays closed") {
  TestClient root{"latch-states"};
  LeaderLatch latch{*root, path};
  CHECK(latch.state() == State::latent);
  CHECK_FALSE(latch.has_leadership());
  latch.start();
  CHECK(latch.state() == State::started);
  CHECK(error_of([&] { latch.start(); }) == Errc::invalid_argument);
  REQUIRE(latch.wait_for(patience));
  latch.close();
  latch.close();
  CHECK(latch.state() == State::closed);
  CHECK_FALSE(latch.has_leadership());
  CHECK_FALSE(latch.leadership());
  CHECK(error_of([&] { latch.start(); }) == Errc::closed);
  CHECK(error_of([&] { static_cast<void>(latch.wait()); }) == Errc::closed);
  CHECK(error_of([&] { LeaderLatch{*root, "no path"}; }) == Errc::invalid_argument);
}

TEST_CASE("whoever waits for leadership is told of it, of the end, or that it is late") {
  TestClient root{"latch-waits"};
  Candidate leader{root, "leader"};
  leader.latch.start();
  REQUIRE(leader.latch.wait_for(patience));
  LeaderLatch latch{*root, path};
  auto early = begun<Lease>([&](auto done) { latch.async_wait(done); });  // before start()
  latch.start();
  CHECK_FALSE(latch.wait_for(20ms));
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(latch.wait(stop.get_token())); });
  });
  stop.request_stop();
  CHECK(stopped.get() == boost::asio::error::operation_aborted);
  leader.latch.close();
  auto [error, leadership] = early.get();
  CHECK_FALSE(error);
  CHECK(leadership.state() == LeaseState::held);

  LeaderLatch another{*root, path};
  auto never_started = begun<Lease>([&](auto done) { another.async_wait(done); });
  another.close();
  CHECK(std::get<0>(never_started.get()) == Errc::closed);
}

TEST_CASE("a shared leadership outlives its latch until it is released") {
  TestClient root{"latch-shared"};
  Candidate first{root, "first"};
  Candidate second{root, "second"};
  stand(first, 1);
  Lease work = first.latch.wait_for(patience);
  REQUIRE(work);
  stand(second, 2);
  first.latch.close();
  CHECK_FALSE(first.latch.has_leadership());
  CHECK(work.state() == LeaseState::held);
  CHECK_FALSE(second.latch.wait_for(50ms));
  work.release();
  CHECK(second.latch.wait_for(patience));
}

TEST_CASE("latches that are started and closed by several threads at once leave no node") {
  TestClient root{"latch-races"};
  for (int round = 0; round < 20; ++round) {
    LeaderLatch latch{*root, path};
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { static_cast<void>(error_of([&] { latch.start(); })); });
    threads.emplace_back([&] { latch.close(); });
    threads.emplace_back([&] { static_cast<void>(error_of([&] { latch.start(); })); });
    threads.emplace_back(
        [&] { static_cast<void>(error_of([&] { static_cast<void>(latch.wait_for(1ms)); })); });
  }
  CHECK(eventually([&] { return names_below(*root, path).empty(); }));
}

TEST_CASE("a client that is closed takes its latches along, and a draining one does not wait") {
  TestClient root{"latch-client-closed"};
  Candidate candidate{root, "candidate"};
  stand(candidate, 1);
  REQUIRE(eventually([&] { return candidate.heard.is({gained}); }));
  CHECK(candidate.client.close(Deadline{patience}));  // it leads, and lets go
  CHECK(eventually([&] { return candidate.latch.state() == State::closed; }));
  CHECK(eventually([&] { return candidate.heard.is({gained, ended}); }));
  CHECK(error_of([&] { LeaderLatch{candidate.client, path}.start(); }) == Errc::closed);
  Candidate next{root, "next"};
  next.latch.start();
  CHECK(next.latch.wait_for(patience));
}

TEST_CASE("an election that may not be entered is told, and entered when it may be") {
  TestClient root{"latch-forbidden"};
  root->create(path, "", {.acl = read_acl()});
  std::atomic<int> told = 0;
  LeaderLatch latch{*root, path, {.on_error = [&](error_code error) {
                      if (error == ServerErrc::no_auth) ++told;
                    }}};
  latch.start();
  REQUIRE(eventually([&] { return told >= 2; }));
  CHECK(latch.state() == State::started);
  latch.close();
}

TEST_CASE("an ensemble that loses its leader's server still has one leader, the same one") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingCluster cluster{quick_cluster()};
  TestClient root{"latch-cluster", cluster.connect_string(), 60s};
  ClientOptions options = beside(root, cluster.connect_string());
  options.session_timeout = 60s;
  Client first{options};
  Client second{options};
  LeaderLatch leading{first, path};
  LeaderLatch waiting{second, path};
  leading.start();
  const Lease leadership = leading.wait_for(patience);
  REQUIRE(leadership);
  waiting.start();
  REQUIRE(eventually([&] { return leading.participants().size() == 2; }));
  const auto member = cluster.wait_for_leader();
  cluster.kill(member);
  cluster.wait_for_leader_other_than(member);
  REQUIRE(eventually([&] { return leading.participants().size() == 2; }));
  CHECK(leading.leadership().token() == leadership.token());
  CHECK_FALSE(waiting.has_leadership());
  cluster.start(member);
  cluster.wait_until_serving();
  leading.close();
}

}  // namespace
}  // namespace custodian::tests
