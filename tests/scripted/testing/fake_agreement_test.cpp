// Cases in which the fake ensemble must behave as ZooKeeper does. Each body takes only a client, so
// it also runs against a real server.

#include <algorithm>

#include "custodian/client.hpp"
#include "custodian/testing/fake_ensemble.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace custodian::tests::fake_agreement_test {
namespace {

using namespace std::chrono_literals;

void nodes_have_versions_and_transaction_ids(Client& client) {
  const Created created = client.create("/a", "one");
  CHECK(created.stat.version == 0);
  CHECK(created.stat.czxid == created.stat.mzxid);
  CHECK(created.stat.pzxid == created.stat.czxid);
  const Stat after_set = client.set("/a", "two", {.version = 0});
  CHECK(after_set.version == 1);
  CHECK(after_set.czxid == created.stat.czxid);
  CHECK(after_set.mzxid > created.stat.mzxid);
  CHECK(after_set.data_length == 3);
  CHECK(error_of([&] { client.set("/a", "x", {.version = 0}); }) == ServerErrc::bad_version);
  CHECK(error_of([&] { client.remove("/a", {.version = 0}); }) == ServerErrc::bad_version);
  const Created child = client.create("/a/b");
  const Stat parent = client.exists("/a").value();
  CHECK(parent.pzxid == child.stat.czxid);
  CHECK(parent.mzxid == after_set.mzxid);
  CHECK(parent.child_count == 1);
  CHECK(parent.children_version == 1);
  CHECK(error_of([&] { client.remove("/a"); }) == ServerErrc::not_empty);
  client.remove("/a/b");
  CHECK(client.exists("/a")->children_version == 2);
  CHECK(client.exists("/a")->pzxid > child.stat.czxid);
  client.remove("/a");
  CHECK_FALSE(client.exists("/a"));
}

void every_child_moves_the_sequence_on(Client& client) {
  client.create("/s");
  client.create("/s/plain");
  CHECK(client.create("/s/n-", "", {.mode = CreateMode::persistent_sequential}).path ==
        "/s/n-0000000001");
  client.remove("/s/n-0000000001");
  CHECK(client.create("/s/n-", "", {.mode = CreateMode::ephemeral_sequential}).path ==
        "/s/n-0000000002");
  CHECK(error_of([&] { client.create("/s/plain"); }) == ServerErrc::node_exists);
  CHECK(client.create("/s/n-", "", {.mode = CreateMode::persistent_sequential}).path ==
        "/s/n-0000000003");
}

void ephemeral_nodes_belong_to_the_session(Client& client) {
  const Created node = client.create("/e", "", {.mode = CreateMode::ephemeral});
  CHECK(node.stat.ephemeral_owner == client.session().id);
  CHECK(error_of([&] { client.create("/e/child"); }) == ServerErrc::no_children_for_ephemerals);
  CHECK(client.create("/c", "", {.mode = CreateMode::container}).stat.ephemeral_owner == 0);
}

void a_transaction_is_all_or_nothing(Client& client) {
  client.create("/t", "0");
  const auto done =
      client.commit({check("/t"), set("/t", "1"), create("/t/n", ""), remove("/t/n")});
  REQUIRE(done.size() == 4);
  CHECK(done[1].stat.version == 1);
  CHECK(done[2].path == "/t/n");
  const Stat before = client.exists("/t").value();
  CHECK(error_of([&] {
          client.commit({set("/t", "2"), check("/t", 7), remove("/t")});
        }) == ServerErrc::bad_version);
  try {
    client.commit({check("/t"), set("/missing", "2"), remove("/t")});
    FAIL("it was applied");
  } catch (const Error& error) {
    CHECK(error.code() == ServerErrc::no_node);
    CHECK(error.path() == "/missing");
    CHECK(std::string{error.what()}.starts_with("commit /missing (operation 2 of 3): "));
  }
  CHECK(client.exists("/t") == before);
  CHECK(client.get("/t").data == "1");
  // Each operation sees what those before it have done.
  client.commit({create("/u"), create("/u/v"), set("/u/v", "x")});
  CHECK(client.get("/u/v").data == "x");
}

void reads_of_what_is_missing_fail(Client& client) {
  CHECK(error_of([&] { static_cast<void>(client.get("/none")); }) == ServerErrc::no_node);
  CHECK(error_of([&] { static_cast<void>(client.children("/none")); }) == ServerErrc::no_node);
  CHECK(error_of([&] { client.create("/none/child"); }) == ServerErrc::no_node);
  CHECK(error_of([&] { client.remove("/none"); }) == ServerErrc::no_node);
  client.sync("/none");
}

void an_acl_is_kept_with_a_version_of_its_own(Client& client) {
  client.create("/acl");
  CHECK(client.get_acl("/acl") == open_acl());
  Acl wider = open_acl();
  wider.push_back(AclEntry{Permissions::read, "ip", "127.0.0.1"});
  client.set_acl("/acl", wider, {.version = 0});
  CHECK(client.get_acl("/acl") == wider);
  CHECK(client.exists("/acl")->acl_version == 1);
  CHECK(client.exists("/acl")->version == 0);
  CHECK(error_of([&] { client.set_acl("/acl", wider, {.version = 0}); }) ==
        ServerErrc::bad_version);
}

void watches_of_data_tell_of_data(Client& client) {
  client.create("/w", "0");
  {
    auto [result, watch] = client.get_and_watch("/w");
    client.create("/w/child");  // does not concern a watch on the data
    client.remove("/w/child");
    client.set("/w", "1");
    CHECK(watch.wait() == WatchEventType::data_changed);
  }
  {
    auto [stat, watch] = client.exists_and_watch("/later");
    CHECK_FALSE(stat);
    client.create("/later");
    CHECK(watch.wait() == WatchEventType::created);
  }
  auto [result, watch] = client.get_and_watch("/w");
  client.remove("/w");
  CHECK(watch.wait() == WatchEventType::deleted);
}

void watches_of_children_tell_of_children(Client& client) {
  client.create("/p");
  {
    auto [names, watch] = client.children_and_watch("/p");
    client.set("/p", "data");  // does not concern a watch on the children
    client.create("/p/c");
    CHECK(watch.wait() == WatchEventType::children_changed);
  }
  {
    auto [names, watch] = client.children_and_watch("/p");
    client.set("/p/c", "data");
    client.remove("/p/c");
    CHECK(watch.wait() == WatchEventType::children_changed);
  }
  auto [names, watch] = client.children_and_watch("/p");
  CHECK(names.names.empty());
  client.remove("/p");
  CHECK(watch.wait() == WatchEventType::deleted);
}

void a_watch_fires_once_and_each_of_several_on_a_node(Client& client) {
  client.create("/m");
  auto first = client.get_and_watch("/m").second;
  auto second = client.get_and_watch("/m").second;
  client.set("/m", "1");
  CHECK(first.wait() == WatchEventType::data_changed);
  CHECK(second.wait() == WatchEventType::data_changed);
  auto third = client.get_and_watch("/m").second;
  client.remove("/m");
  CHECK(third.wait() == WatchEventType::deleted);
  CHECK(first.wait() == WatchEventType::data_changed);  // the watch keeps its outcome
}

void check(void (*body)(Client&)) {
  testing::FakeEnsemble ensemble;
  ClientOptions options = ensemble.options("agreement");
  options.name_space = "agreement";
  Client client{std::move(options)};
  client.wait_connected();
  body(client);
  CHECK(client.load().operations == 0);
}

TEST_CASE("fake: nodes have versions and transaction ids") {
  check(&nodes_have_versions_and_transaction_ids);
}
TEST_CASE("fake: every child moves the sequence on") { check(&every_child_moves_the_sequence_on); }
TEST_CASE("fake: ephemeral nodes belong to the session") {
  check(&ephemeral_nodes_belong_to_the_session);
}
TEST_CASE("fake: a transaction is all or nothing") { check(&a_transaction_is_all_or_nothing); }
TEST_CASE("fake: reads of what is missing fail") { check(&reads_of_what_is_missing_fail); }
TEST_CASE("fake: an ACL is kept, with a version of its own") {
  check(&an_acl_is_kept_with_a_version_of_its_own);
}
TEST_CASE("fake: watches of data tell of data") { check(&watches_of_data_tell_of_data); }
TEST_CASE("fake: watches of children tell of children") {
  check(&watches_of_children_tell_of_children);
}
TEST_CASE("fake: a watch fires once, and each of several on a node") {
  check(&a_watch_fires_once_and_each_of_several_on_a_node);
}

}  // namespace
}  // namespace custodian::tests::fake_agreement_test
