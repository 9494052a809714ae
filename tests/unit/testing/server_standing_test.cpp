#include "server/server_standing.hpp"

#include "support/catch.hpp"

namespace custodian::tests::server_standing_test {

using custodian::testing::parse_standing;
using custodian::testing::ServerStanding;

TEST_CASE("who leads, who follows and who does not serve is read from a server's answer",
          "[server-standing]") {
  using Role = ServerStanding::Role;
  CHECK(parse_standing("Zookeeper version: 3.8.0\nConnections: 1\nZxid: 0x700000012\n"
                       "Mode: leader\nNode count: 5\n") == ServerStanding{true, Role::leads, 7});
  CHECK(parse_standing("Zxid: 0x10ffffffff\nMode: follower\n") ==
        ServerStanding{true, Role::follows, 16});
  CHECK(parse_standing("Zxid: 0x1\nMode: standalone") == ServerStanding{true, Role::none, 0});
  CHECK(parse_standing("This ZooKeeper instance is not currently serving requests\n") ==
        ServerStanding{true, Role::none, 0});
}

TEST_CASE("a server that says nothing has no standing that is known", "[server-standing]") {
  CHECK(parse_standing("") == ServerStanding{});
  CHECK_FALSE(parse_standing("").known);
}

}  // namespace custodian::tests::server_standing_test
