#include <optional>

#include "custodian/nodes/persistent_ttl_node.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/gap_counter.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::persistent_node_test {
namespace {

using State = PersistentNodeState;

Client beside(TestClient& client, const std::string& servers = connect_string()) {
  ClientOptions options = options_for(servers);
  options.name_space = client.root();
  return Client{options};
}

bool is_gone(TestClient& client, const std::string& path) { return !client->exists(path); }

TEST_CASE("a persistent node is there with its data until it is closed") {
  TestClient client{"node"};
  PersistentNode node{*client, "/a/node", "one"};
  node.wait_present();
  const GetResult seen = client->get("/a/node");
  CHECK(seen.data == "one");
  CHECK(seen.stat.ephemeral_owner == client->session().id);
  node.set_data("two");
  CHECK(client->get("/a/node").data == "two");
  CHECK(node.close());
  CHECK(is_gone(client, "/a/node"));
  CHECK(node.state() == State::closed);
}

TEST_CASE("a persistent node that is destroyed is deleted in the background") {
  TestClient client{"destroyed"};
  std::optional<PersistentNode> node{std::in_place, *client, "/node"};
  node->wait_present();
  node.reset();
  CHECK(eventually([&] { return is_gone(client, "/node"); }));
}

TEST_CASE("a persistent node comes back after every deletion") {
  TestClient client{"deleted"};
  PersistentNode node{*client, "/node", "d"};
  node.wait_present();
  for (int i = 0; i < 20; ++i) {
    const std::int64_t old = client->get("/node").stat.czxid;
    client->remove("/node");
    REQUIRE(eventually([&] {
      const auto stat = client->exists("/node");
      return stat && stat->czxid > old;
    }));
  }
  CHECK(client->get("/node").data == "d");
}

TEST_CASE("a persistent node of each mode has the name that it says") {
  TestClient client{"modes"};
  // A parent that the node creates is a container, which the server deletes when it is empty.
  client->create("/modes", "");
  for (const CreateMode mode :
       {CreateMode::ephemeral, CreateMode::persistent, CreateMode::ephemeral_sequential,
        CreateMode::persistent_sequential}) {
    for (const Protection protection : {Protection::none, Protection::by_unique_name}) {
      INFO("mode " << static_cast<int>(mode));
      PersistentNode node{*client, "/modes/n", "d", {.mode = mode, .protection = protection}};
      node.wait_present();
      CHECK(client->get(node.path()).data == "d");
      CHECK(node.close());
      CHECK(client->children("/modes").names.empty());
    }
  }
}

TEST_CASE("a persistent node lives through lost sessions, and has the newest data in each") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"sessions"};
  Client client = beside(root);
  PersistentNode node{client, "/node", "0"};
  for (int i = 1; i <= 3; ++i) {
    node.wait_present({.deadline = patience});
    const SessionInfo session = client.session();
    own_server().expire_session(session.id, session.password);
    node.set_data(std::to_string(i), {.deadline = patience});
    REQUIRE(eventually([&] { return client.session().id != session.id; }));
    REQUIRE(eventually([&] {
      const auto stat = root->exists("/node");
      return stat && stat->ephemeral_owner == client.session().id;
    }));
    CHECK(root->get("/node").data == std::to_string(i));
  }
}

// CUSTODIAN_TEST_RECONNECTIONS=<number> sets how often the connection is cut.
TEST_CASE("connections that break write nothing to a persistent node") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"cuts"};
  testing::FaultProxy proxy{own_server().endpoint()};
  Client client = beside(root, proxy.connect_string());
  PersistentNode node{client, "/node", "d"};
  node.wait_present();
  const Stat before = root->get("/node").stat;
  const int cuts = number_in("CUSTODIAN_TEST_RECONNECTIONS", 30);
  for (int i = 0; i < cuts; ++i) {
    const std::uint64_t connection = client.session().connection;
    proxy.cut();
    REQUIRE(eventually([&] {
      return client.session().connection > connection && is_connected(client.connection_state());
    }));
  }
  CHECK(root->get("/node").stat == before);
  CHECK(node.state() == State::present);
  root->remove("/node");
  CHECK(eventually([&] { return !is_gone(root, "/node"); }));
}

TEST_CASE("of two persistent nodes with one name neither writes or deletes the other's") {
  TestClient root{"two"};
  Client one = beside(root);
  Client two = beside(root);
  std::optional<PersistentNode> first{std::in_place, one, "/node", "first"};
  first->wait_present();
  PersistentNode second{two, "/node", "second"};
  REQUIRE(eventually([&] { return second.state() == State::taken; }));
  const Stat before = root->get("/node").stat;
  second.close();
  CHECK(root->get("/node").stat == before);
  PersistentNode third{two, "/node", "third"};
  REQUIRE(eventually([&] { return third.state() == State::taken; }));
  first.reset();
  third.wait_present();
  CHECK(root->get("/node").data == "third");
  CHECK(root->get("/node").stat.ephemeral_owner == two.session().id);
}

TEST_CASE("a node with a TTL lives while it is touched, and has no owner among the sessions") {
  TestClient client{"ttl"};
  PersistentTtlNode node{*client, "/node", std::chrono::milliseconds{400}, "d"};
  node.wait_present();
  REQUIRE(eventually([&] {
    const auto touch = client->exists("/node/touch");
    return touch && touch->version >= 4;
  }));
  CHECK(client->get("/node").stat.version == 0);
  CHECK(client->get("/node").stat.ephemeral_owner != client->session().id);
  CHECK(node.close());
  CHECK(is_gone(client, "/node"));
}

TEST_CASE("a program that is started anew takes its node over, and nobody sees it missing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"restarted"};
  testing::FaultProxy proxy{own_server().endpoint()};
  Client before = beside(root, proxy.connect_string());
  PersistentNode old{before, "/node", "0", {.foreign_node = ForeignNode::is_taken_over}};
  old.wait_present();
  const GapCounter counter{*root, "/node"};
  REQUIRE(eventually([&] { return counter.looks() == 1; }));
  // As if the process had been killed: its session lives on until it times out.
  proxy.refuse();
  proxy.cut();
  Client after = beside(root);
  PersistentNode node{after, "/node", "1", {.foreign_node = ForeignNode::is_taken_over}};
  node.wait_present();
  CHECK(root->get("/node").data == "1");
  own_server().expire_session(before.session().id, before.session().password);
  CHECK(root->get("/node").stat.ephemeral_owner == after.session().id);
  REQUIRE(eventually([&] { return counter.looks() >= 2; }));
  CHECK(counter.gaps() == 0);
}

}  // namespace
}  // namespace custodian::tests::persistent_node_test
