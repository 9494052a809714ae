// Latches that lose their sessions, connections or servers.

#include <atomic>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/clusters.hpp"
#include "integration/leader/leadership.hpp"
#include "support/acquired.hpp"

namespace custodian::tests::leader_latch_outage_test {
namespace {

using namespace std::chrono_literals;
using enum Leadership;

TEST_CASE("a session that is over ends the leadership before another one leads") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"latch-expired"};
  LatchCandidate first{root, "first"};
  LatchCandidate second{root, "second"};
  const Lease before = lead(first);
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
  Server server{{.tick_time = 250ms}};
  testing::FaultProxy proxy{server.endpoint()};
  TestClient root{"latch-cut", server.connect_string()};
  ClientOptions short_session = beside(root, proxy.connect_string());
  short_session.session_timeout = 2500ms;
  short_session.touch_interval = 250ms;
  Client cut{short_session};
  LeaderLatch first{cut, election_path};
  first.start();
  REQUIRE(acquired(first.wait_for(patience)));
  LatchCandidate second{root, "second", server.connect_string()};
  std::atomic<bool> two = false;
  Subscription watching = second.latch.on_leadership([&](Leadership now) {
    if (now == gained && first.has_leadership()) two = true;
  });
  stand(second, 2);
  proxy.refuse();
  proxy.cut();
  REQUIRE(acquired(second.latch.wait_for(patience)));
  CHECK_FALSE(first.has_leadership());
  CHECK_FALSE(two);
  proxy.accept();
  REQUIRE(eventually([&] { return second.latch.participants().size() == 2; }));
  second.latch.close();
  CHECK(acquired(first.wait_for(patience)));
}

TEST_CASE("a short disconnection costs the leadership under one error policy, and not the other") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient root{"latch-policies"};
  LatchCandidate strict{
      root, "strict", proxy.connect_string(), {.loss_policy = LossPolicy::on_suspended}};
  Lease of_strict = lead(strict);
  proxy.cut();
  REQUIRE(eventually([&] { return strict.heard.is({gained, ended}); }));
  CHECK(of_strict.loss_reason() == LossReason::suspended);
  of_strict.release();  // until then its node keeps the latch from leading again
  REQUIRE(eventually([&] { return strict.heard.is({gained, ended, gained}); }));
  strict.latch.close();

  LatchCandidate lenient{root, "lenient", proxy.connect_string()};
  const Lease of_lenient = lead(lenient);
  proxy.cut();
  REQUIRE(eventually(
      [&] { return lenient.client.connection_state() == ConnectionState::reconnected; }));
  CHECK(lenient.heard.is({gained}));
  CHECK(lenient.latch.leadership().token() == of_lenient.token());
}

TEST_CASE("an ensemble that loses its leader's server still has one leader, the same one") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingCluster cluster{secured(quick_cluster())};
  TestClient root{"latch-cluster", connect_string(cluster), 60s};
  ClientOptions options = beside(root, connect_string(cluster));
  options.session_timeout = 60s;
  Client first{options};
  Client second{options};
  LeaderLatch leading{first, election_path};
  LeaderLatch waiting{second, election_path};
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
}  // namespace custodian::tests::leader_latch_outage_test
