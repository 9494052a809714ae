#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "custodian/testing/testing_cluster.hpp"
#include "integration/clusters.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests::peer_links_test {

using custodian::testing::PeerDirection;
using custodian::testing::PeerLinks;
using custodian::testing::TestingCluster;
using custodian::testing::WireSession;
using custodian::tests::eventually_in_cluster;
using custodian::tests::quick_cluster;
using custodian::tests::takes_writes;
using namespace std::chrono_literals;

namespace {

constexpr std::int32_t ok = 0;
constexpr std::int32_t ephemeral = 1;
constexpr std::int32_t no_node = -101;

// All cases share one cluster, since each leaves it as it was: all links are whole, and all members
// serve.
TestingCluster& shared_cluster() {
  static TestingCluster cluster{[] {
    auto options = quick_cluster();
    options.peer_links = PeerLinks::proxied;
    return options;
  }()};
  return cluster;
}

using Port = unsigned long;

// The ports on which a member listens for the others: "server.<its number>=host:port:port".
std::set<Port> peer_ports(const TestingCluster& cluster, std::size_t member) {
  std::ifstream config{cluster.server(member).directory() / "zoo.cfg"};
  const std::string own = "server." + std::to_string(member + 1) + "=";
  for (std::string line; std::getline(config, line);) {
    if (!line.starts_with(own)) continue;
    const auto last = line.rfind(':');
    const auto first = line.rfind(':', last - 1);
    return {std::stoul(line.substr(first + 1)), std::stoul(line.substr(last + 1))};
  }
  return {};
}

// The connections to ports of this machine, by the ports of both ends, with the inodes of their
// sockets.
struct Connections {
  std::map<std::pair<Port, Port>, unsigned long> inodes;  // by local and remote port
  std::set<unsigned long> own;                            // inodes of this process's sockets

  Connections() {
    // Java's dual-stack sockets are listed in tcp6, also for IPv4.
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
      std::ifstream lines{table};
      for (std::string line; std::getline(lines, line);) {
        std::istringstream fields{line};
        std::string number, local, remote, state, skip;
        unsigned long inode = 0;
        fields >> number >> local >> remote >> state;
        for (int i = 0; i < 5; ++i) fields >> skip;
        constexpr const char* established = "01";
        if (fields >> inode && state == established) inodes[{port(local), port(remote)}] = inode;
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
      struct stat status {};
      if (::stat(entry.path().c_str(), &status) == 0 && S_ISSOCK(status.st_mode))
        own.insert(status.st_ino);
    }
  }

  static Port port(const std::string& address) {
    return std::stoul(address.substr(address.rfind(':') + 1), nullptr, 16);
  }

  // Connections to a port, from this process and from others.
  [[nodiscard]] std::pair<int, int> to(Port port) const {
    std::pair<int, int> counts{0, 0};
    for (const auto& [ports, inode] : inodes) {
      if (ports.second == port) ++(own.contains(inode) ? counts.first : counts.second);
    }
    return counts;
  }
};

// Returns whether the members are connected through proxies of this process, and only so.
bool all_links_are_proxied(const TestingCluster& cluster) {
  const Connections connections;
  int proxied = 0;
  int direct = 0;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    for (const Port port : peer_ports(cluster, i)) {
      const auto [own, others] = connections.to(port);
      proxied += own;
      direct += others;
    }
  }
  // Two followers have links to their leader; there may also be links of an election.
  return direct == 0 && proxied >= 2;
}

void heal(TestingCluster& cluster) {
  cluster.heal_peers();
  cluster.wait_until_serving();
}

}  // namespace

TEST_CASE("members talk to each other through proxies only", "[peer-links]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  CHECK(all_links_are_proxied(cluster));
  // The members with larger numbers connect to a member that was restarted, and it connects to
  // them, too.
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    cluster.restart(i);
    cluster.wait_until_serving();
    CAPTURE(i);
    CHECK(all_links_are_proxied(cluster));
  }
}

TEST_CASE("a follower cut off from everyone is dropped, and comes back", "[peer-links]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto direction =
      GENERATE(PeerDirection::both, PeerDirection::outgoing, PeerDirection::incoming);
  const auto leader = cluster.wait_for_leader();
  const auto follower = cluster.followers().at(0);
  WireSession reader{cluster.server(follower).endpoint(), 20s};
  WireSession writer{cluster.server(leader).endpoint(), 20s};

  cluster.isolate(follower, direction);
  CHECK(reader.exists("/") == ok);
  REQUIRE(writer.create("/meanwhile", "", ephemeral) == ok);
  if (direction != PeerDirection::outgoing) CHECK(reader.exists("/meanwhile") == no_node);
  cluster.wait_until_not_serving(follower);
  CHECK(cluster.leader() == leader);
  CHECK(cluster.followers().size() == 1);

  heal(cluster);
  CHECK(cluster.leader() == leader);
  WireSession again{cluster.server(follower).endpoint(), reader.id(), reader.password()};
  CHECK_FALSE(again.expired());
  CHECK(eventually_in_cluster([&again] { return again.exists("/meanwhile") == ok; }));
  again.close();
  writer.close();
}

TEST_CASE("a leader cut off from everyone is replaced, and follows when it is back",
          "[peer-links]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto direction =
      GENERATE(PeerDirection::both, PeerDirection::outgoing, PeerDirection::incoming);
  const auto old_leader = cluster.wait_for_leader();
  WireSession client{cluster.server(old_leader).endpoint(), 20s};

  cluster.isolate(old_leader, direction);
  CHECK(client.exists("/") == ok);
  const auto leader = cluster.wait_for_leader_other_than(old_leader);
  cluster.wait_until_not_serving(old_leader);
  CHECK(takes_writes(cluster.server(leader).endpoint()));

  heal(cluster);
  CHECK(cluster.leader() == leader);
  CHECK(cluster.followers().size() == 2);
}

TEST_CASE("two followers cut off from each other go on following", "[peer-links]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  const auto leader = cluster.wait_for_leader();
  const auto followers = cluster.followers();
  REQUIRE(followers.size() == 2);
  cluster.cut_peers(followers[0], followers[1]);
  for (const auto each : followers) CHECK(takes_writes(cluster.server(each).endpoint()));
  CHECK(cluster.leader() == leader);
  heal(cluster);
}

TEST_CASE("with all links cut there is no leader, and with all healed one", "[peer-links]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto& cluster = shared_cluster();
  cluster.wait_for_leader();
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.isolate(i);
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.wait_until_not_serving(i);
  CHECK_FALSE(cluster.leader().has_value());
  heal(cluster);
  CHECK(cluster.leader().has_value());
  CHECK(all_links_are_proxied(cluster));
}

}  // namespace custodian::tests::peer_links_test
