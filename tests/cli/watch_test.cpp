// custodian watch, while nodes of the test's come, change and go.

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/look.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::watch_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("watch prints what is there, and a line for each change") {
  TestClient test{"watch"};
  test->create("/m", "root");
  test->create("/m/a", "one");
  Program watcher{CUSTODIAN_CLI, words_for(test, {"watch", "/m"})};
  REQUIRE(watcher.says("added  /m  root"));
  REQUIRE(watcher.says("added  /m/a  one"));
  REQUIRE(watcher.says("synced"));
  test->set("/m/a", "t\x1bwo");
  REQUIRE(watcher.says("changed  /m/a  t\\x1bwo"));
  test->remove("/m/a");
  REQUIRE(watcher.says("removed  /m/a"));
  watcher.signal(SIGTERM);
  CHECK(watcher.result().status == 0);
}

TEST_CASE("watch --once prints what is there, as deep as it is asked to, and ends") {
  TestClient test{"watch-once"};
  CHECK(look(test, {"watch", "/m", "--once"}).output.empty());
  test->create("/m");
  test->create("/m/a", "\xff");
  test->create("/m/a/b");
  const auto [status, output] = look(test, {"watch", "/m", "--once", "--depth", "1", "--json"});
  CHECK(status == 0);
  std::istringstream lines{output};
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(nlohmann::json::parse(line)["path"] == "/m");
  REQUIRE(std::getline(lines, line));
  const auto node = nlohmann::json::parse(line);
  CHECK(node["change"] == "added");
  CHECK(node["path"] == "/m/a");
  CHECK(node["data"].is_null());
  CHECK(node["data_hex"] == "ff");
  CHECK(node["version"] == 0);
  CHECK(node["session"].is_null());
  CHECK_FALSE(std::getline(lines, line));
  CHECK(look(test, {"watch", "m"}).status == 64);
  CHECK(look(test, {"watch", "/m", "--depth", "-1"}).status == 64);
}

TEST_CASE("watch goes on through a restart of the server") {
  testing::TestingServer server;
  TestClient test{"watch-restart", server.connect_string(), 30s};
  test->create("/m");
  Program watcher{CUSTODIAN_CLI, words_for(test, {"watch", "/m", "--json"})};
  REQUIRE(watcher.says(R"("change":"synced")"));
  server.stop();
  REQUIRE(watcher.says("disconnected"));
  server.start();
  REQUIRE(watcher.says("connected again"));
  test->create("/m/a");
  REQUIRE(watcher.says(R"("change":"added","path":"/m/a")"));
  watcher.signal(SIGINT);
  CHECK(watcher.result().status == 0);
}

}  // namespace
}  // namespace custodian::tests::watch_test
