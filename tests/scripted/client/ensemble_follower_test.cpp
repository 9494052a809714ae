// A client that follows its ensemble: which servers its sessions are given, and when.

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::ensemble_follower_test {
namespace {

const std::string config_path = "/zookeeper/config";
const std::string two_members =
    "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000000";
const std::string third_member =
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "server.3=zk3:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000007";

struct Fixture {
  Fixture() { world.make("/zookeeper"); }
  ~Fixture() {
    if (client) CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void begin() {
    ClientOptions options = world.options("observed");
    options.servers = "zk1/app";
    options.name_space = "team";
    options.follow_ensemble = true;
    options.session_factory = noting(options.session_factory, given);
    options.log = [this](LogLevel level, std::string_view line) {
      if (level == LogLevel::warning && line.find("ensemble") != std::string_view::npos) ++warnings;
    };
    client = world.client(options);
  }
  void configure(const std::string& config) {
    world.ensemble.operate(request::Set{config_path, config});
  }
  [[nodiscard]] bool gets(const std::string& servers) {
    return world.run_until([&] { return given->servers.back() == servers; });
  }
  void lose_session() {
    const std::int64_t session = client->session().id;
    world.ensemble.expire(session);
    CHECK(world.run_until([&] {
      return client->session().id != session && is_connected(client->connection_state());
    }));
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  int warnings = 0;
  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("members are added to the given servers, and leave with the configuration") {
  Fixture fixture;
  fixture.world.make(config_path, two_members);
  fixture.begin();
  CHECK(fixture.given->servers.front() == "zk1");
  CHECK(fixture.gets("zk1:2181,zk2:2181"));
  fixture.configure(third_member);
  CHECK(fixture.gets("zk1:2181,zk2:2181,zk3:2181"));
  fixture.configure("server.3=zk3:2888:3888;2181\nversion=100000008");
  CHECK(fixture.gets("zk1:2181,zk3:2181"));
  CHECK(fixture.warnings == 0);
}

TEST_CASE("a configuration whose version does not grow changes nothing") {
  Fixture fixture;
  fixture.world.make(config_path, third_member);
  fixture.begin();
  REQUIRE(fixture.gets("zk1:2181,zk2:2181,zk3:2181"));
  for (const auto& each : {std::string{two_members}, std::string{"not a configuration"}}) {
    fixture.configure(each);
    // The client reads it.
    fixture.world.settle();
  }
  fixture.configure("server.4=zk4:2888:3888;2181\nversion=100000009");
  CHECK(fixture.gets("zk1:2181,zk4:2181"));
  CHECK(fixture.given->servers.size() == 3);
}

TEST_CASE("later sessions begin with the members, and go on following") {
  Fixture fixture;
  fixture.world.make(config_path, two_members);
  fixture.begin();
  REQUIRE(fixture.gets("zk1:2181,zk2:2181"));
  fixture.lose_session();
  CHECK(fixture.given->servers.back() == "zk1:2181,zk2:2181");
  fixture.configure(third_member);
  CHECK(fixture.gets("zk1:2181,zk2:2181,zk3:2181"));
}

TEST_CASE("a connection that is cut costs no read of the configuration: the watch on it stands") {
  Fixture fixture;
  fixture.world.make(config_path, two_members);
  fixture.begin();
  REQUIRE(fixture.gets("zk1:2181,zk2:2181"));
  fixture.world.settle();
  const auto before = fixture.client->session().connection;
  fixture.world.ensemble.clear_history();
  fixture.world.ensemble.disconnect(fixture.client->session().id);
  REQUIRE(fixture.world.run_until([&] { return fixture.client->session().connection > before; }));
  fixture.world.settle();
  CHECK(fixture.world.ensemble.history().empty());
  fixture.configure(third_member);
  CHECK(fixture.gets("zk1:2181,zk2:2181,zk3:2181"));
}

TEST_CASE("servers given by hand take the place of the given ones, not of the members") {
  Fixture fixture;
  fixture.world.make(config_path, two_members);
  fixture.begin();
  REQUIRE(fixture.gets("zk1:2181,zk2:2181"));
  fixture.client->set_servers("zk9");
  CHECK(fixture.gets("zk9:2181,zk1:2181,zk2:2181"));
}

TEST_CASE("servers without a configuration are used as they are given, with one warning") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return fixture.warnings == 1; }));
  fixture.lose_session();
  static_cast<void>(run<std::optional<Stat>>(
      fixture.world, [&](auto done) { fixture.client->async_exists("/a", {}, done); }));
  CHECK(fixture.warnings == 1);
  CHECK(fixture.given->servers == std::vector<std::string>{"zk1", "zk1"});
}

TEST_CASE("a client that does not follow reads no configuration") {
  Fixture fixture;
  fixture.world.make(config_path, two_members);
  const auto requests = std::make_shared<FaultsAt>("observed");
  fixture.world.ensemble.set_fault_plan(requests);
  fixture.client = fixture.world.client("observed");
  REQUIRE(fixture.world.run_until_idle(*fixture.client));
  CHECK(requests->steps() == 0);
}

}  // namespace
}  // namespace custodian::tests::ensemble_follower_test
