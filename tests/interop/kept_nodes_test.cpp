// Nodes that are kept, ours beside Curator's, when connections break and processes start again.
//
// CUSTODIAN_TEST_RECONNECTIONS=<number> sets how often the connections are cut, and
// CUSTODIAN_TEST_RESTARTS=<number> how many processes are started; by default a few.

#include <iostream>
#include <memory>
#include <vector>

#include "curators_nodes.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/gap_counter.hpp"
#include "support/number_in.hpp"

namespace custodian::tests::kept_nodes_test {
namespace {

using namespace std::chrono_literals;
using testing::FaultProxy;

Client beside(TestClient& client, std::string servers) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  return Client{options};
}

TEST_CASE("connections that break write nothing to our node, and Curator's each time") {
  CUSTODIAN_REQUIRES_CURATOR();
  const int cuts = number_in("CUSTODIAN_TEST_RECONNECTIONS", 5);
  FaultProxy proxy{own_server().endpoint()};
  FaultProxy curators_proxy{own_server().endpoint()};
  CuratorsNodes both{"cuts", connect_string(), curators_proxy.connect_string()};
  Client client = beside(both.client, proxy.connect_string());
  const PersistentNode ours{client, "/ours", "d"};
  ours.wait_present();
  both.curators.does("keep /theirs d");
  const Stat before = both.client->get("/ours").stat;
  for (int i = 0; i < cuts; ++i) {
    const std::uint64_t connection = client.session().connection;
    const std::int32_t version = both.client->get("/theirs").stat.version;
    proxy.cut();
    curators_proxy.cut();
    REQUIRE(eventually([&] {
      return client.session().connection > connection && is_connected(client.connection_state());
    }));
    // Curator's writes when it is connected again.
    static_cast<void>(
        eventually([&] { return both.client->get("/theirs").stat.version > version; }, 5s));
  }
  CHECK(both.client->get("/ours").stat == before);
  CHECK(ours.state() == PersistentNodeState::present);
  std::cout << "  " << cuts << " reconnections: no write to our node, "
            << both.client->get("/theirs").stat.version << " to Curator's\n";
}

/// A process of ours that keeps a node, and takes over that of its last run.
struct Life {
  Life(TestClient& root, std::string data)
      : client{beside(root, proxy.connect_string())},
        node{client, "/ours", std::move(data), {.foreign_node = ForeignNode::is_taken_over}} {
    node.wait_present();
  }
  /// As if the process had been killed: its session lives on until it times out.
  void stop() {
    proxy.refuse();
    proxy.cut();
  }
  FaultProxy proxy{own_server().endpoint()};
  Client client;
  PersistentNode node;
};

TEST_CASE("a process that starts again leaves no gap in our node; Curator's has one") {
  CUSTODIAN_REQUIRES_CURATOR();
  const int restarts = number_in("CUSTODIAN_TEST_RESTARTS", 1);
  TestClient root{"restarts"};
  std::vector<std::unique_ptr<Life>> lives;
  lives.push_back(std::make_unique<Life>(root, "0"));
  const GapCounter counter{*root, "/ours"};
  REQUIRE(eventually([&] { return counter.looks() == 1; }));
  for (int i = 1; i <= restarts; ++i) {
    Life& last = *lives.back();
    const SessionInfo session = last.client.session();
    last.stop();
    const Life& next = *lives.emplace_back(std::make_unique<Life>(root, std::to_string(i)));
    own_server().expire_session(session.id, session.password);
    CHECK(root->get("/ours").stat.ephemeral_owner == next.client.session().id);
    REQUIRE(eventually([&] { return counter.looks() > i; }));
  }
  CHECK(counter.gaps() == 0);

  const GapCounter curators_counter{*root, "/theirs"};
  int curators_gaps = 0;
  for (int i = 0; i < restarts; ++i) {
    Driver before{CuratorsNodes::peer(), connect_string() + root.root()};
    Session{before, "curator", 3s}.does("keep /theirs d");
    const std::int64_t owner = root->get("/theirs").stat.ephemeral_owner;
    const int gaps = curators_counter.gaps();
    before.kill();
    Driver after{CuratorsNodes::peer(), connect_string() + root.root()};
    Session{after, "curator", 3s}.does("keep /theirs d");
    REQUIRE(eventually([&] {
      const auto stat = root->exists("/theirs");
      return stat && stat->ephemeral_owner != owner;
    }));
    curators_gaps += curators_counter.gaps() - gaps;
    after.kill();
    REQUIRE(eventually([&] { return !root->exists("/theirs"); }));
  }
  std::cout << "  " << restarts << " restarts: " << counter.gaps() << " gaps seen in our node, "
            << curators_gaps << " in Curator's\n";
}

}  // namespace
}  // namespace custodian::tests::kept_nodes_test
