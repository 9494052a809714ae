// A client that follows its ensemble, and cannot read the configuration at first.

#include "scripted/client/following.hpp"

namespace custodian::tests::ensemble_follower_failures_test {
namespace {

TEST_CASE("a configuration that may not be read is read again on the next connection") {
  Following following{RetryPolicy::none()};
  following.world.make(config_path, two_members);
  following.world.ensemble.refuse(config_path);
  following.begin();
  REQUIRE(following.is_warned(1, "cannot read /zookeeper/config"));
  following.world.ensemble.permit(config_path);
  following.reconnect();
  CHECK(following.gets("zk1:2181,zk2:2181"));
  CHECK(following.warnings.size() == 1);
}

TEST_CASE("a read of the configuration that fails on a good connection is repeated", "[timed]") {
  Following following{RetryPolicy::none()};
  const auto faults =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::throttle}}});
  following.world.ensemble.set_fault_plan(faults);
  following.begin_with(two_members);
  CHECK(following.gets("zk1:2181,zk2:2181"));
  CHECK(faults->steps() == 2);
  CHECK(following.warnings.empty());
  following.world.ensemble.set_fault_plan(nullptr);
}

// Nothing of the follower keeps the client: World::end() waits until it is gone.
TEST_CASE("a client that is destroyed behind a failed read of the configuration ends") {
  Following following{RetryPolicy::none()};
  const auto faults =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::throttle}}});
  following.world.ensemble.set_fault_plan(faults);
  following.begin_with(two_members);
  REQUIRE(following.world.run_until([&] { return faults->steps() == 1; }));
  REQUIRE(following.world.run_until_idle(*following.client));
  following.world.ensemble.set_fault_plan(nullptr);
}

}  // namespace
}  // namespace custodian::tests::ensemble_follower_failures_test
