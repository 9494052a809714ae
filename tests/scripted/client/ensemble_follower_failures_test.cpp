// A client that follows its ensemble, and cannot read the configuration at first.

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::ensemble_follower_failures_test {
namespace {

const std::string config_path = "/zookeeper/config";
const std::string two_members =
    "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000000";

struct Following {
  Following() {
    world.make("/zookeeper");
    world.make(config_path, two_members);
  }
  ~Following() { CHECK(world.end(client)); }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  void begin(const RetryPolicy& retry) {
    ClientOptions options = world.options("observed");
    options.servers = "zk1";
    options.follow_ensemble = true;
    options.retry = retry;
    options.session_factory = noting(options.session_factory, given);
    options.log = [this](LogLevel level, std::string_view line) {
      const bool is_of_config = line.find(config_path) != std::string_view::npos;
      if (level == LogLevel::warning && is_of_config) ++warnings;
    };
    client = world.client(std::move(options));
  }
  [[nodiscard]] bool gets_members() {
    return world.run_until([&] { return given->servers.back() == "zk1:2181,zk2:2181"; });
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  int warnings = 0;
  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("a configuration that may not be read is read again on the next connection") {
  Following following;
  following.world.ensemble.refuse(config_path);
  following.begin(RetryPolicy::none());
  REQUIRE(following.world.run_until([&] { return following.warnings == 1; }));
  following.world.ensemble.permit(config_path);
  following.world.ensemble.disconnect(following.client->session().id);
  CHECK(following.gets_members());
  CHECK(following.warnings == 1);
}

TEST_CASE("a read of the configuration that fails on a good connection is repeated", "[timed]") {
  Following following;
  const auto faults =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::throttle}}});
  following.world.ensemble.set_fault_plan(faults);
  following.begin(RetryPolicy::none());
  CHECK(following.gets_members());
  CHECK(faults->steps() == 2);
  CHECK(following.warnings == 0);
  following.world.ensemble.set_fault_plan(nullptr);
}

// Nothing of the follower keeps the client: World::end() waits until it is gone.
TEST_CASE("a client that is destroyed behind a failed read of the configuration ends") {
  Following following;
  const auto faults =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::throttle}}});
  following.world.ensemble.set_fault_plan(faults);
  following.begin(RetryPolicy::none());
  REQUIRE(following.world.run_until([&] { return faults->steps() == 1; }));
  REQUIRE(following.world.run_until_idle(*following.client));
  following.world.ensemble.set_fault_plan(nullptr);
}

}  // namespace
}  // namespace custodian::tests::ensemble_follower_failures_test
