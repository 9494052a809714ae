// custodian observe, while candidates of the test's come and go.

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/look.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::observe_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("observe prints a line for each leader, and for nobody") {
  TestClient test{"observe"};
  Program observer{CUSTODIAN_CLI, words_for(test, {"observe", "/leader"})};
  REQUIRE(observer.says("nobody leads"));
  std::optional<LeaderLatch> one{std::in_place, *test, "/leader", CandidateOptions{.id = "one"}};
  one->start();
  REQUIRE(observer.says("one leads, session 0x"));
  LeaderLatch two{*test, "/leader", {.id = "two"}};
  two.start();
  REQUIRE(eventually([&] { return two.participants().size() == 2; }));
  one.reset();
  REQUIRE(observer.says("two leads"));
  two.close();
  REQUIRE(observer.says("nobody leads"));
  observer.signal(SIGTERM);
  CHECK(observer.result().status == 0);
}

TEST_CASE("observe --once tells who leads now, and ends") {
  TestClient test{"observe-once"};
  const auto nobody = look_json(test, {"observe", "/leader", "--once"});
  CHECK(nobody["leader"].is_null());
  CHECK(nobody["path"] == "/leader");
  LeaderLatch one{*test, "/leader", {.id = "one"}};
  one.start();
  REQUIRE(acquired(one.wait_for(patience)));
  const auto leader = look_json(test, {"observe", "/leader", "--once"})["leader"];
  CHECK(leader["identity"] == "one");
  CHECK(leader["token"] == to_string(one.leadership().token()));
  CHECK(contains(look(test, {"observe", "/leader", "--once"}).output, "one leads"));
  CHECK(look(test, {"observe", "leader"}).status == 64);
}

TEST_CASE("observe goes on through a restart of the server") {
  testing::TestingServer server;
  TestClient test{"observe-restart", server.connect_string(), 30s};
  LeaderLatch one{*test, "/leader", {.id = "one"}};
  one.start();
  Program observer{CUSTODIAN_CLI, words_for(test, {"observe", "/leader", "--json"})};
  REQUIRE(observer.says(R"("identity":"one")"));
  server.stop();
  REQUIRE(observer.says("disconnected"));
  server.start();
  REQUIRE(observer.says("connected again"));
  one.close();
  REQUIRE(observer.says(R"("leader":null)"));
  observer.signal(SIGINT);
  CHECK(observer.result().status == 0);
}

}  // namespace
}  // namespace custodian::tests::observe_test
