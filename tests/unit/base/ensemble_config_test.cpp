#include "base/ensemble_config.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::tests::ensemble_config_test {

using custodian::detail::ClientSide;
using custodian::detail::common_port;
using custodian::detail::EnsembleConfig;
using custodian::detail::EnsembleMember;
using custodian::detail::HostPort;
using custodian::detail::ListeningAddress;
using custodian::detail::parse_ensemble_config;
using custodian::detail::servers_of;
using custodian::detail::with_members;

namespace {

using Servers = std::vector<HostPort>;

/// The servers for a client without TLS that knows no port.
Servers plain_servers(const std::string& member) {
  const auto config = parse_ensemble_config("server.1=" + member + "\nversion=0");
  REQUIRE(config);
  return servers_of(*config, {});
}

Servers servers(const std::string& member, ClientSide side) {
  const auto config = parse_ensemble_config("server.1=" + member + "\nversion=0");
  REQUIRE(config);
  return servers_of(*config, side);
}

TEST_CASE("a configuration has its version and its members", "[ensemble_config]") {
  const auto config = parse_ensemble_config(
      "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
      "server.2=10.0.0.2:2888:3888:observer;10.0.0.2:2182\r\n"
      "server.3=zk3:2888:3888:participant\n"
      "group.1=1:2:3\n"
      "version=1a00000007");
  REQUIRE(config);
  CHECK(config->version == 0x1a00000007);
  CHECK(config->members ==
        std::vector<EnsembleMember>{
            {.hosts = {"zk1"}, .plain = ListeningAddress{"", 2181}},
            {.hosts = {"10.0.0.2"}, .observes = true, .plain = ListeningAddress{"10.0.0.2", 2182}},
            {.hosts = {"zk3"}}});
}

TEST_CASE("a member that listens on all addresses is reached as the other members reach it",
          "[ensemble_config]") {
  const auto* const address = GENERATE(";0.0.0.0:2181", ";[0:0:0:0:0:0:0:0]:2181", ";2181");
  CHECK(plain_servers("zk1.example:2888:3888:participant" + std::string{address}) ==
        Servers{{"zk1.example", 2181}});
}

TEST_CASE("a member that listens on one address is reached there", "[ensemble_config]") {
  CHECK(plain_servers("zk1:2888:3888:participant;clients.example:2182") ==
        Servers{{"clients.example", 2182}});
  CHECK(plain_servers("[fe80::1]:2888:3888;[2001:DB8::1]:2182") == Servers{{"2001:db8::1", 2182}});
}

TEST_CASE("a member with several hosts is reached at each", "[ensemble_config]") {
  CHECK(plain_servers("zk1a:2888:3888|zk1b:2889:3889|[::7]:2890:3890:participant;2181") ==
        Servers{{"zk1a", 2181}, {"zk1b", 2181}, {"::7", 2181}});
}

TEST_CASE("observers are left out", "[ensemble_config]") {
  CHECK(plain_servers("zk1:2888:3888:observer;2181").empty());
}

TEST_CASE("a loopback address counts where the given servers are local", "[ensemble_config]") {
  CHECK(plain_servers("zk1:2888:3888;127.0.0.1:2181").empty());
  CHECK(plain_servers("zk1:2888:3888;localhost:2181").empty());
  CHECK(plain_servers("127.0.0.1:2888:3888;127.0.0.1:2181").empty());
  CHECK(plain_servers("localhost:2888:3888;2181").empty());
  CHECK(servers("127.0.0.1:2888:3888;127.0.0.1:2181", {.local = true}) ==
        Servers{{"127.0.0.1", 2181}});
  CHECK(servers("localhost:2888:3888;2181", {.local = true}) == Servers{{"localhost", 2181}});
  CHECK(detail::are_local({{"127.0.0.1", 2181}, {"localhost", 2182}, {"::1", 2183}}));
  CHECK_FALSE(detail::are_local({{"127.0.0.1", 2181}, {"zk1", 2182}}));
  for (const char* loopback : {"LocalHost", "localhost.", "127.255.0.1", "0:0:0:0:0:0:0:1",
                               "::ffff:127.0.0.1", "::FFFF:7f00:1"}) {
    CAPTURE(loopback);
    CHECK(detail::are_local({{loopback, 2181}}));
  }
  for (const char* elsewhere : {"127.0.0.1.example.org", "127.example.org", "localhost.example.org",
                                "128.0.0.1", "::2", "::ffff:10.0.0.1"}) {
    CAPTURE(elsewhere);
    CHECK_FALSE(detail::are_local({{elsewhere, 2181}}));
  }
}

TEST_CASE("a port that the configuration does not name is the one that the user gives",
          "[ensemble_config]") {
  const std::string static_port = "zk1:2888:3888:participant";
  CHECK(servers(static_port, {}).empty());
  CHECK(servers(static_port, {.port = 2183}) == Servers{{"zk1", 2183}});
  CHECK(servers(static_port + ";2181", {.port = 2183}) == Servers{{"zk1", 2181}});
}

TEST_CASE("with TLS the plain port is never taken", "[ensemble_config]") {
  const std::string plain = "zk1:2888:3888:participant;10.0.0.1:2181";
  CHECK(servers(plain, {.tls = true}).empty());
  CHECK(servers(plain, {.tls = true, .port = 2281}) == Servers{{"10.0.0.1", 2281}});
}

TEST_CASE("a secure port is read where servers publish it", "[ensemble_config]") {
  const std::string both = "zk1:2888:3888:participant;2181;2281";
  CHECK(servers(both, {.tls = true, .port = 2282}) == Servers{{"zk1", 2281}});
  CHECK(servers(both, {.port = 2182}) == Servers{{"zk1", 2181}});
  const std::string secure_alone = "zk1:2888:3888:participant;;zk1-tls:2281";
  CHECK(servers(secure_alone, {.tls = true}) == Servers{{"zk1-tls", 2281}});
  CHECK(servers(secure_alone, {.port = 2182}).empty());
}

TEST_CASE("a server that is named twice is one server", "[ensemble_config]") {
  const auto config =
      parse_ensemble_config("server.1=zk1:2888:3888;2181\nserver.2=ZK1:2889:3889;2181\nversion=0");
  REQUIRE(config);
  CHECK(servers_of(*config, {}) == Servers{{"zk1", 2181}});
}

TEST_CASE("what is no configuration is none", "[ensemble_config]") {
  CHECK_FALSE(parse_ensemble_config(""));
  CHECK_FALSE(parse_ensemble_config("server.1=zk1:2888:3888;2181"));
  CHECK_FALSE(parse_ensemble_config("version="));
  CHECK_FALSE(parse_ensemble_config("version=-1"));
  CHECK_FALSE(parse_ensemble_config("version=1g"));
  CHECK_FALSE(parse_ensemble_config("version=11112222333344445"));
  CHECK_FALSE(parse_ensemble_config("version=0\n" + std::string(1U << 16U, '\n')));
}

TEST_CASE("a member that makes no sense is left out, and the others stay", "[ensemble_config]") {
  const auto* const bad =
      GENERATE("", "=", ";", ";;;", "|", "[", "[]:1:2;3", "[::1", ":1:2;2181", "a b:1:2;2181",
               "a/b:1:2;2181", "a,b:1:2;2181", "0.0.0.0:2888:3888;2181", "zk1:1:2;0",
               "zk1:1:2;65536", "zk1:1:2;a b:2181", "zk1:1:2;[::1:2181", "zk1:1:2;:2181");
  const auto config =
      parse_ensemble_config("server.1=" + std::string{bad} +
                            "\nserver.2=zk2:2888:3888;2181\nserver\n=\nserver.=\nversion=2");
  REQUIRE(config);
  CHECK(servers_of(*config, {}) == Servers{{"zk2", 2181}});
}

TEST_CASE("an ensemble has 255 members at most", "[ensemble_config]") {
  std::string text = "version=1\n";
  for (int i = 1; i <= 300; ++i) text += "server." + std::to_string(i) + "=h:1:2;2181\n";
  const auto config = parse_ensemble_config(text);
  REQUIRE(config);
  CHECK(config->members.size() == 255);
}

TEST_CASE("members come behind the servers that are given", "[ensemble_config]") {
  CHECK(with_members("zk2,zk1:2182", {{"zk1", 2182}, {"zk3", 2181}, {"::1", 2181}}) ==
        "zk2:2181,zk1:2182,zk3:2181,[::1]:2181");
  CHECK(with_members("secure://zk1:2281", {{"zk2", 2281}}) == "secure://zk1:2281,zk2:2281");
  CHECK(with_members("zk1, zk2", {}) == "zk1, zk2");
}

TEST_CASE("servers have a port in common, or have not", "[ensemble_config]") {
  CHECK(common_port({{"a", 1}, {"b", 1}}) == 1);
  CHECK_FALSE(common_port({{"a", 1}, {"b", 2}}));
  CHECK_FALSE(common_port({}));
}

}  // namespace
}  // namespace custodian::tests::ensemble_config_test
