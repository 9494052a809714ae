// A client that follows its ensemble: which servers its sessions are given, and when.

#include "scripted/client/following.hpp"

namespace custodian::tests::ensemble_follower_test {
namespace {

const std::string third_member =
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "server.3=zk3:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000007";

TEST_CASE("members are added to the given servers, and leave with the configuration") {
  Following following;
  following.options.servers = "zk1/app";
  following.options.name_space = "team";
  following.begin_with(two_members);
  CHECK(following.given->servers.front() == "zk1");
  CHECK(following.gets("zk1:2181,zk2:2181"));
  following.configure(third_member);
  CHECK(following.gets("zk1:2181,zk2:2181,zk3:2181"));
  following.configure("server.3=zk3:2888:3888;2181\nversion=100000008");
  CHECK(following.gets("zk1:2181,zk3:2181"));
  CHECK(following.warnings.empty());
}

TEST_CASE("a configuration whose version does not grow changes nothing") {
  Following following;
  following.begin_with(third_member);
  REQUIRE(following.gets("zk1:2181,zk2:2181,zk3:2181"));
  for (const auto& each : {std::string{two_members}, std::string{"not a configuration"}}) {
    following.configure(each);
    // The client reads it.
    following.world.settle();
  }
  following.configure("server.4=zk4:2888:3888;2181\nversion=100000009");
  CHECK(following.gets("zk1:2181,zk4:2181"));
  CHECK(following.given->servers.size() == 3);
}

TEST_CASE("later sessions begin with the members, and go on following") {
  Following following;
  following.begin_with(two_members);
  REQUIRE(following.gets("zk1:2181,zk2:2181"));
  following.lose_session();
  CHECK(following.given->servers.back() == "zk1:2181,zk2:2181");
  following.configure(third_member);
  CHECK(following.gets("zk1:2181,zk2:2181,zk3:2181"));
}

TEST_CASE("a connection that is cut costs no read of the configuration: the watch on it stands") {
  Following following;
  following.begin_with(two_members);
  REQUIRE(following.gets("zk1:2181,zk2:2181"));
  following.world.settle();
  following.world.ensemble.clear_history();
  following.reconnect();
  following.world.settle();
  CHECK(following.world.ensemble.history().empty());
  following.configure(third_member);
  CHECK(following.gets("zk1:2181,zk2:2181,zk3:2181"));
}

TEST_CASE("servers given by hand take the place of the given ones, not of the members") {
  Following following;
  following.begin_with(two_members);
  REQUIRE(following.gets("zk1:2181,zk2:2181"));
  following.client->set_servers("zk9");
  CHECK(following.gets("zk9:2181,zk1:2181,zk2:2181"));
}

TEST_CASE("servers without a configuration are used as they are given, with one warning") {
  Following following;
  following.begin();
  REQUIRE(following.is_warned(1, "cannot read /zookeeper/config"));
  following.lose_session();
  static_cast<void>(run<std::optional<Stat>>(
      following.world, [&](auto done) { following.client->async_exists("/a", {}, done); }));
  CHECK(following.warnings.size() == 1);
  CHECK(following.given->servers == std::vector<std::string>{"zk1", "zk1"});
}

TEST_CASE("a client that does not follow reads no configuration") {
  Following following;
  following.world.make(config_path, two_members);
  const auto requests = std::make_shared<FaultsAt>("observed");
  following.world.ensemble.set_fault_plan(requests);
  following.client = following.world.client("observed");
  REQUIRE(following.world.run_until_idle(*following.client));
  CHECK(requests->steps() == 0);
}

}  // namespace
}  // namespace custodian::tests::ensemble_follower_test
