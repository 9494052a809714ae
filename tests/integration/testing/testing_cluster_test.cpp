#include "custodian/testing/testing_cluster.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "integration/clusters.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests::testing_cluster_test {

using custodian::testing::ClientLinks;
using custodian::testing::Loss;
using custodian::testing::TestingCluster;
using custodian::testing::TestingError;
using custodian::testing::WireSession;
using custodian::tests::eventually_in_cluster;
using custodian::tests::quick_cluster;
using custodian::tests::takes_writes;
using namespace std::chrono_literals;

namespace {

constexpr std::int32_t ok = 0;
constexpr std::int32_t ephemeral = 1;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const TestingError& error) {
    return error.what();
  }
  return "";
}

// All cases share one cluster, since each leaves it as it was: all members serve.
TestingCluster& shared_cluster() {
  static TestingCluster cluster{[] {
    auto options = quick_cluster();
    options.client_links = ClientLinks::proxied;
    return options;
  }()};
  return cluster;
}

std::size_t follower_of(const TestingCluster& cluster) {
  const auto followers = cluster.followers();
  REQUIRE_FALSE(followers.empty());
  return followers.front();
}

}  // namespace

TEST_CASE("an ensemble has one leader, and everyone else follows", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const auto& cluster = shared_cluster();
  REQUIRE(cluster.size() == 3);
  const auto leader = cluster.wait_for_leader();
  CHECK(cluster.leader() == leader);
  auto everyone = cluster.followers();
  everyone.push_back(leader);
  std::sort(everyone.begin(), everyone.end());
  CHECK(everyone == std::vector<std::size_t>{0, 1, 2});
  CHECK(cluster.server(leader).statistics().at("zk_server_state") == "leader");

  WireSession writer{cluster.server(follower_of(cluster)).endpoint(), 10s};
  REQUIRE(writer.create("/seen-by-all", "", ephemeral) == ok);
  for (const auto each : everyone) {
    WireSession reader{cluster.server(each).endpoint(), 10s};
    CHECK(eventually_in_cluster([&reader] { return reader.exists("/seen-by-all") == ok; }));
    reader.close();
  }
  writer.close();
}

TEST_CASE("when the leader is killed another one leads", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto old_leader = cluster.wait_for_leader();
  cluster.kill(old_leader);
  CHECK_FALSE(cluster.server(old_leader).is_running());
  const auto leader = cluster.wait_for_leader();
  CHECK(leader != old_leader);
  cluster.wait_until_serving();
  CHECK(takes_writes(cluster.server(leader).endpoint()));

  cluster.start(old_leader);
  cluster.wait_until_serving();
  CHECK(cluster.leader() == leader);
  CHECK(cluster.followers().size() == 2);
}

TEST_CASE("when the leader is paused another one leads, and it follows when resumed",
          "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto old_leader = cluster.wait_for_leader();
  cluster.pause(old_leader);
  const auto leader = cluster.wait_for_leader();
  CHECK(leader != old_leader);
  cluster.resume(old_leader);
  CHECK(eventually_in_cluster([&cluster, old_leader] {
    const auto followers = cluster.followers();
    return std::find(followers.begin(), followers.end(), old_leader) != followers.end();
  }));
  CHECK(cluster.leader() == leader);
  cluster.wait_until_serving();
}

TEST_CASE("a member can be stopped, started and restarted", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto leader = cluster.wait_for_leader();
  const auto follower = follower_of(cluster);
  cluster.stop(follower);
  CHECK_FALSE(cluster.is_serving(follower));
  CHECK(cluster.leader() == leader);
  cluster.wait_until_serving();
  cluster.start(follower);
  cluster.wait_until_serving(follower);
  cluster.restart(follower);
  cluster.wait_until_serving(follower);
  CHECK(cluster.leader() == leader);
}

TEST_CASE("without a quorum nobody serves, until there is one again", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto loss = GENERATE(Loss::kill, Loss::pause);
  cluster.wait_for_leader();
  cluster.lose_quorum(loss);
  CHECK_FALSE(cluster.leader().has_value());
  CHECK(cluster.followers().empty());
  const auto message = message_of([&cluster] { cluster.wait_for_leader(50ms); });
  CHECK(message.find("no leader after 50 ms") != std::string::npos);
  CHECK(message.find(loss == Loss::kill ? "does not run" : "is paused") != std::string::npos);

  cluster.regain_quorum();
  // A member that was paused may claim to serve before it notices that it has lost the others.
  CHECK(eventually_in_cluster([&cluster] {
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      if (!takes_writes(cluster.server(i).endpoint())) return false;
    }
    return true;
  }));
  CHECK(cluster.leader().has_value());
  CHECK(cluster.followers().size() == 2);
}

TEST_CASE("clients reach the members through proxies, and only they are concerned",
          "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  std::string expected;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    expected += (i == 0 ? "" : ",") + cluster.client_proxy(i).connect_string();
    CHECK(cluster.connect_string(i) == cluster.client_proxy(i).connect_string());
    CHECK(takes_writes(cluster.client_proxy(i).endpoint()));
  }
  CHECK(cluster.connect_string() == expected);

  const auto leader = cluster.wait_for_leader();
  cluster.client_proxy(leader).refuse();
  CHECK_FALSE(takes_writes(cluster.client_proxy(leader).endpoint()));
  CHECK(cluster.leader() == leader);
  cluster.client_proxy(leader).heal();
  CHECK(takes_writes(cluster.client_proxy(leader).endpoint()));
}

TEST_CASE("links without proxies cannot be cut", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  CHECK_THROWS_AS(cluster.cut_peers(0, 1), TestingError);
  CHECK_THROWS_AS(cluster.isolate(0), TestingError);
  cluster.heal_peers();
}

TEST_CASE("an ensemble of one serves, and leaves nothing behind", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  std::filesystem::path directory;
  {
    auto options = quick_cluster();
    options.size = 1;
    TestingCluster cluster{options};
    directory = cluster.server(0).directory();
    CHECK(cluster.leader() == std::size_t{0});
    CHECK(cluster.followers().empty());
    CHECK(cluster.connect_string() == cluster.server(0).connect_string());
    CHECK(takes_writes(cluster.server(0).endpoint()));
    CHECK_THROWS_AS(cluster.client_proxy(0), TestingError);
  }
  CHECK_FALSE(std::filesystem::exists(directory));
}

TEST_CASE("an ensemble that cannot start says why", "[testing-cluster]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto options = quick_cluster();
  SECTION("without Java") {
    options.server.java = "/nonexistent/java";
    const auto message = message_of([&options] { TestingCluster cluster{options}; });
    CHECK(message.find("No such file or directory") != std::string::npos);
  }
  SECTION("with a line that the server does not take") {
    options.size = 1;
    options.server.config_lines = {"initLimit=many"};
    const auto message = message_of([&options] { TestingCluster cluster{options}; });
    CHECK(message.find("ended by itself") != std::string::npos);
    CHECK(message.find("many") != std::string::npos);
  }
}

}  // namespace custodian::tests::testing_cluster_test
