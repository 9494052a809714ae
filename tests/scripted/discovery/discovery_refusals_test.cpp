// Service discovery whose requests are refused, each in its turn, for lack of permission.

#include "custodian/discovery/service_discovery.hpp"
#include "custodian/discovery/service_provider.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::discovery_refusals_test {
namespace {

constexpr LastingRefusal left_out = LastingRefusal::is_left_out;

ServiceInstance printer() { return {.name = "printer", .id = "one", .address = "10.0.0.1"}; }

/// Makes the nodes of an instance, as another process would.
void make_instance(const OrderScene& scene) {
  scene.world.make("/services");
  scene.world.make("/services/printer");
  scene.world.make("/services/printer/one", encode_instance(printer()));
}

TEST_CASE("refusals: an instance is registered, updated and unregistered", "[refusals]") {
  play_every_refusal(
      "create create create create create get get set get get! remove!",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/services")) {
          scene.world.ensemble.remove_tree("/services");
        }
        scene.begin();
        const ServiceDiscovery discovery{scene.client, "/services"};
        auto outcome = scene.run<Registration>(
            [&](auto done) { discovery.async_register_service(printer(), done); });
        if (scene.failed()) return;
        Registration registration = std::move(outcome.result());
        ServiceInstance busy = printer();
        busy.port = 631;
        scene.run<>([&](auto done) { registration.async_update(busy, {}, done); });
        scene.run<bool>([&](auto done) { registration.async_unregister({}, done); });
      },
      left_out);
}

// An instance that may not be read is left out, and is no failure.
TEST_CASE("refusals: the names and the instances of services", "[refusals]") {
  play_every_refusal("sync~ children! sync~ children! get", [](OrderScene& scene) {
    make_instance(scene);
    scene.begin();
    const ServiceDiscovery discovery{scene.client, "/services"};
    scene.run<std::vector<std::string>>([&](auto done) { discovery.async_names(done); });
    if (scene.failed()) return;
    const auto found = scene.run<std::vector<ServiceInstance>>(
        [&](auto done) { discovery.async_instances("printer", done); });
    if (found.result().size() > 1) scene.complain("an instance is there twice");
  });
}

TEST_CASE("refusals: a provider that waits for an instance", "[refusals]") {
  play_every_refusal(
      "sync get exists get children get",
      [](OrderScene& scene) {
        if (scene.world.ensemble.exists("/services")) {
          scene.world.ensemble.remove_tree("/services");
        }
        scene.begin();
        const ServiceDiscovery discovery{scene.client, "/services"};
        const ServiceProvider provider{discovery, "printer"};
        scene.wait_until([&] { return provider.state() == MirrorState::synced; });
        make_instance(scene);
        // An instance that may not be read for a moment is known as one that is malformed.
        const auto is_known = [&] {
          return !provider.all().empty() || !provider.malformed().empty();
        };
        if (!scene.wait_until(is_known)) scene.complain("the instance is not seen");
      },
      left_out);
}

}  // namespace
}  // namespace custodian::tests::discovery_refusals_test
