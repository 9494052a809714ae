// A registration's blocking calls, when an instance was registered, and in which order instances
// are listed.

#include "scripted/blocking_calls.hpp"
#include "scripted/discovery/discovery_scene.hpp"

namespace custodian::tests::registration_calls_test {
namespace {

TEST_CASE("discovery: a thread updates its instance, and unregisters it", "[discovery]") {
  BlockingClient blocking;
  const ServiceDiscovery discovery{blocking.client, "/services"};
  Registration registration = discovery.register_service(printer("a"));
  ServiceInstance changed = printer("a");
  changed.payload = text_payload("duplex");
  registration.update(changed);
  CHECK(discovery.instances("printer").front().payload == changed.payload);
  CHECK(registration.instance().payload == changed.payload);
  CHECK(registration.unregister());
  CHECK(discovery.instances("printer").empty());
  CHECK_FALSE(blocking.ensemble.exists("/services/printer/a"));
}

TEST_CASE("discovery: an instance keeps the time at which it was registered", "[discovery]") {
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;
  constexpr Time earlier{std::chrono::milliseconds{1000}};
  constexpr Time later{std::chrono::milliseconds{2000}};
  DiscoveryScene scene;
  ServiceInstance instance = printer("a");
  instance.registered = earlier;
  Registration registration = scene.add(instance);
  CHECK(scene.instances().front().registered == earlier);
  const auto update = [&](std::optional<Time> registered) {
    ServiceInstance changed = printer("a");
    changed.registered = registered;
    CHECK_FALSE(
        run<>(scene.world, [&](auto done) { registration.async_update(changed, done); }).error());
    return scene.instances().front().registered;
  };
  CHECK(update({}) == earlier);
  CHECK(update(later) == later);
}

TEST_CASE("discovery: instances are listed in the order of their ids", "[discovery]") {
  DiscoveryScene scene;
  scene.make("node-1", encode_instance(printer("c")));
  scene.make("node-2", encode_instance(printer("a")));
  scene.make("node-3", encode_instance(printer("b")));
  std::string ids;
  for (const ServiceInstance& each : scene.instances()) ids += each.id;
  CHECK(ids == "abc");
}

TEST_CASE("discovery: a sync that fails is reported, and nothing is listed", "[discovery]") {
  DiscoveryScene scene;
  scene.world.ensemble.set_fault_plan(
      std::make_shared<FaultsAt>("one", Faults{{0, {.kind = FaultKind::throttle}}}));
  scene.world.ensemble.clear_history();
  const OperationOptions once{.retry = RetryPolicy::none()};
  const auto names = run<std::vector<std::string>>(
      scene.world, [&](auto done) { scene.discovery.async_names(once, done); });
  CHECK(names.error() == ServerErrc::throttled);
  CHECK(scene.world.ensemble.history().size() == 1);
}

}  // namespace
}  // namespace custodian::tests::registration_calls_test
