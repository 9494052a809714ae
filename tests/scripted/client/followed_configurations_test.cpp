// A client that cannot read its ensemble's configuration, or cannot use it.

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::followed_configurations_test {
namespace {

using namespace std::chrono_literals;

const std::string config_path = "/zookeeper/config";
const std::string two_members =
    "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000000";
const std::string all_servers = "zk1:2181,zk2:2181";

struct Fixture {
  Fixture() { world.make("/zookeeper"); }
  ~Fixture() {
    if (client) CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void begin(const std::string& servers = "zk1", std::optional<std::uint16_t> member_port = {}) {
    ClientOptions options = world.options("observed");
    options.servers = servers;
    options.follow_ensemble = true;
    options.member_port = member_port;
    options.retry = RetryPolicy::none();
    options.session_factory = noting(options.session_factory, given);
    options.log = [this](LogLevel level, std::string_view line) {
      const bool of_ensemble = line.find("ensemble") != std::string_view::npos;
      if (level == LogLevel::warning && of_ensemble) warnings.emplace_back(line);
      if (level == LogLevel::info) informed += std::string{line} + '\n';
    };
    client = world.client(options);
  }
  void configure(const std::string& config) {
    world.ensemble.operate(request::Set{config_path, config});
  }
  [[nodiscard]] bool gets(const std::string& servers) {
    return world.run_until([&] { return given->servers.back() == servers; });
  }
  /// Runs until there are so many warnings, and the last one has this text.
  [[nodiscard]] bool is_warned(std::size_t times, const std::string& text) {
    return world.run_until([&] { return warnings.size() >= times; }) && warnings.size() == times &&
           warnings.back().find(text) != std::string::npos;
  }
  [[nodiscard]] bool is_informed(const std::string& text) {
    return world.run_until([&] { return informed.find(text) != std::string::npos; });
  }
  void reconnect() {
    const auto before = client->session().connection;
    world.ensemble.disconnect(client->session().id);
    CHECK(world.run_until([&] { return client->session().connection > before; }));
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  std::vector<std::string> warnings;
  std::string informed;
  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("a configuration that does not exist yet is read on the next connection") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.is_warned(1, "cannot read /zookeeper/config"));
  fixture.world.make(config_path, two_members);
  fixture.reconnect();
  CHECK(fixture.gets(all_servers));
  CHECK(fixture.warnings.size() == 1);
  CHECK(fixture.is_informed("(configuration 0x100000000): its servers are " + all_servers));
}

TEST_CASE("a server without an ensemble gets one warning, and another cause another one") {
  Fixture fixture;
  fixture.world.make(config_path, "");
  fixture.begin();
  REQUIRE(fixture.is_warned(1, "stands alone"));
  fixture.configure("");
  fixture.world.settle();
  CHECK(fixture.warnings.size() == 1);
  fixture.configure("server.1=zk1:2888:3888;2181\n");  // no version
  REQUIRE(fixture.is_warned(2, "not understood"));
  // The watch goes on meanwhile.
  fixture.configure(two_members);
  CHECK(fixture.gets(all_servers));
  CHECK(fixture.warnings.size() == 2);
}

TEST_CASE(
    "a configuration without a server for this client gets a warning, and the given ones stay") {
  Fixture fixture;
  fixture.world.make(config_path, "server.2=zk2:2888:3888:observer;2181\nversion=1");
  fixture.begin();
  REQUIRE(fixture.is_warned(1, "names no server for this client"));
  CHECK(fixture.is_informed("its servers are none"));
  CHECK(fixture.given->servers.back() == "zk1");
  fixture.configure(two_members);
  CHECK(fixture.gets(all_servers));
}

TEST_CASE("a member without a port has that of all given servers, or that of the options") {
  const std::string without_port = "server.2=zk2:2888:3888:participant\nversion=1";
  Fixture fixture;
  fixture.world.make(config_path, without_port);
  SECTION("one port that all given servers have") {
    fixture.begin("zk1:2183,zk3:2183");
    CHECK(fixture.gets("zk1:2183,zk3:2183,zk2:2183"));
  }
  SECTION("no port that all of them have") {
    fixture.begin("zk1:2183,zk3:2184");
    CHECK(fixture.is_warned(1, "names no server for this client"));
  }
  SECTION("the port of the options") {
    fixture.begin("zk1:2183,zk3:2184", 2185);
    CHECK(fixture.gets("zk1:2183,zk3:2184,zk2:2185"));
  }
}

TEST_CASE("a loopback address is followed by a client whose servers are all local") {
  const std::string local = "server.2=127.0.0.1:2888:3888:participant;2182\nversion=1";
  Fixture fixture;
  fixture.world.make(config_path, local);
  SECTION("all of them") {
    fixture.begin("localhost");
    CHECK(fixture.gets("localhost:2181,127.0.0.1:2182"));
  }
  SECTION("one of them") {
    fixture.begin("localhost,zk1");
    CHECK(fixture.is_warned(1, "names no server for this client"));
  }
}

}  // namespace
}  // namespace custodian::tests::followed_configurations_test
