// A client that cannot read its ensemble's configuration, or cannot use it.

#include "scripted/client/following.hpp"

namespace custodian::tests::followed_configurations_test {
namespace {

const std::string all_servers = "zk1:2181,zk2:2181";

TEST_CASE("a configuration that does not exist yet is read on the next connection") {
  Following following{RetryPolicy::none()};
  following.begin();
  REQUIRE(following.is_warned(1, "cannot read /zookeeper/config"));
  following.world.make(config_path, two_members);
  following.reconnect();
  CHECK(following.gets(all_servers));
  CHECK(following.warnings.size() == 1);
  CHECK(following.is_informed("(configuration 0x100000000): its servers are " + all_servers));
}

TEST_CASE("a server without an ensemble gets one warning, and another cause another one") {
  Following following{RetryPolicy::none()};
  following.begin_with("");
  REQUIRE(following.is_warned(1, "stands alone"));
  following.configure("");
  following.world.settle();
  CHECK(following.warnings.size() == 1);
  following.configure("server.1=zk1:2888:3888;2181\n");  // no version
  REQUIRE(following.is_warned(2, "not understood"));
  // The watch goes on meanwhile.
  following.configure(two_members);
  CHECK(following.gets(all_servers));
  CHECK(following.warnings.size() == 2);
}

TEST_CASE(
    "a configuration without a server for this client gets a warning, and the given ones stay") {
  Following following{RetryPolicy::none()};
  following.begin_with("server.2=zk2:2888:3888:observer;2181\nversion=1");
  REQUIRE(following.is_warned(1, "names no server for this client"));
  CHECK(following.is_informed("its servers are none"));
  CHECK(following.given->servers.back() == "zk1");
  following.configure(two_members);
  CHECK(following.gets(all_servers));
}

TEST_CASE("a member without a port has that of all given servers, or that of the options") {
  const std::string without_port = "server.2=zk2:2888:3888:participant\nversion=1";
  Following following{RetryPolicy::none()};
  following.world.make(config_path, without_port);
  SECTION("one port that all given servers have") {
    following.options.servers = "zk1:2183,zk3:2183";
    following.begin();
    CHECK(following.gets("zk1:2183,zk3:2183,zk2:2183"));
  }
  SECTION("no port that all of them have") {
    following.options.servers = "zk1:2183,zk3:2184";
    following.begin();
    CHECK(following.is_warned(1, "names no server for this client"));
  }
  SECTION("the port of the options") {
    following.options.servers = "zk1:2183,zk3:2184";
    following.options.member_port = 2185;
    following.begin();
    CHECK(following.gets("zk1:2183,zk3:2184,zk2:2185"));
  }
}

TEST_CASE("a loopback address is followed by a client whose servers are all local") {
  const std::string local = "server.2=127.0.0.1:2888:3888:participant;2182\nversion=1";
  Following following{RetryPolicy::none()};
  following.world.make(config_path, local);
  SECTION("all of them") {
    following.options.servers = "localhost";
    following.begin();
    CHECK(following.gets("localhost:2181,127.0.0.1:2182"));
  }
  SECTION("one of them") {
    following.options.servers = "localhost,zk1";
    following.begin();
    CHECK(following.is_warned(1, "names no server for this client"));
  }
}

}  // namespace
}  // namespace custodian::tests::followed_configurations_test
