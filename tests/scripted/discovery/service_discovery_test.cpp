// Instances of services over an in-memory ensemble: registered, updated, taken over, and read.

#include "custodian/discovery/service_discovery.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "scripted/discovery/discovery_scene.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::service_discovery_test {
namespace {

using State = PersistentNodeState;

TEST_CASE("discovery: an instance is there while its registration lives", "[discovery]") {
  DiscoveryScene scene;
  Registration registration = scene.add(printer("a"));
  CHECK(registration.path() == "/services/printer/a");
  CHECK(registration.state() == State::present);
  const Reply node = scene.look("/services/printer/a");
  CHECK(node.data == encode_instance(registration.instance()));
  CHECK(node.stat.ephemeral_owner == scene.client->session().id);
  CHECK(scene.instances() == std::vector<ServiceInstance>{registration.instance()});
  CHECK(scene.names() == std::vector<std::string>{"printer"});
  registration = {};
  CHECK_FALSE(registration);
  CHECK(scene.world.run_until([&] { return !scene.world.ensemble.exists("/services/printer/a"); }));
  CHECK(scene.instances().empty());
  CHECK(scene.world.run_until_idle(*scene.client));
}

TEST_CASE("discovery: an instance gets an id, and the time", "[discovery]") {
  DiscoveryScene scene;
  const Registration registration = scene.add({.name = "printer"});
  CHECK(registration.instance().id.size() == 36);
  const auto age = std::chrono::system_clock::now() - *registration.instance().registered;
  CHECK(age < std::chrono::minutes{1});
  CHECK(registration.path() == "/services/printer/" + registration.instance().id);
}

TEST_CASE("discovery: an update is there for all, and stays with the instance", "[discovery]") {
  DiscoveryScene scene;
  Registration registration = scene.add(printer("a"));
  ServiceInstance changed = printer("a");
  changed.payload = text_payload("duplex");
  changed.enabled = false;
  const auto updated =
      run<>(scene.world, [&](auto done) { registration.async_update(changed, done); });
  REQUIRE(updated.arrived());
  CHECK_FALSE(updated.error());
  CHECK(registration.instance().registered);
  CHECK(scene.instances() == std::vector<ServiceInstance>{registration.instance()});
  CHECK_FALSE(scene.instances().front().enabled);
  scene.world.remove("/services/printer/a");
  CHECK(scene.world.run_until([&] {
    return scene.look("/services/printer/a").data == encode_instance(registration.instance());
  }));
}

TEST_CASE("discovery: an update keeps the name, the id and the type", "[discovery]") {
  DiscoveryScene scene;
  Registration registration = scene.add(printer("a"));
  const auto refuse = [&](const ServiceInstance& instance) {
    check_refused(
        [&] {
          registration.async_update(instance, [](error_code) {});
          return 0;
        },
        "update", "the name, the id and the type of a registered instance stay");
  };
  refuse(printer("b"));
  ServiceInstance other = printer("a");
  other.name = "scanner";
  refuse(other);
  other = printer("a");
  other.type = ServiceType::fixed;
  refuse(other);
}

TEST_CASE("discovery: a restarted process takes over its instance, and nobody sees a gap",
          "[discovery]") {
  DiscoveryScene scene;
  const auto earlier = scene.world.client("earlier");
  Registration before = scene.add(ServiceDiscovery{*earlier, scene.base}, printer("a"));
  // Its process has died, and its session has not run out.
  scene.world.ensemble.cut_off("earlier");
  bool was_missing = false;
  const auto plan = std::make_shared<FaultsAt>("one");
  plan->replying = [&](std::size_t) {
    was_missing = was_missing || !scene.world.ensemble.exists("/services/printer/a");
  };
  scene.world.ensemble.set_fault_plan(plan);
  const Registration after = scene.add(printer("a"));
  CHECK_FALSE(was_missing);
  CHECK(scene.look("/services/printer/a").stat.ephemeral_owner == scene.client->session().id);
  scene.world.ensemble.expire(earlier->session().id);
  scene.world.settle();
  CHECK(scene.world.ensemble.exists("/services/printer/a"));
  before = {};
  scene.world.ensemble.let_in("earlier");
  CHECK(scene.world.run_until_idle(*earlier));
}

TEST_CASE("discovery: a reconnection writes nothing, and a new session registers again",
          "[discovery]") {
  DiscoveryScene scene;
  const Registration registration = scene.add(printer("a"));
  REQUIRE(scene.world.run_until([&] { return scene.world.ensemble.watches() == 1; }));
  scene.world.ensemble.clear_history();
  scene.world.ensemble.disconnect(scene.client->session().id);
  REQUIRE(scene.world.run_until(
      [&] { return scene.client->connection_state() == ConnectionState::reconnected; }));
  scene.world.settle();
  CHECK(scene.world.ensemble.history().empty());
  scene.world.ensemble.expire(scene.client->session().id);
  CHECK(scene.world.run_until([&] { return scene.is_ours("/services/printer/a"); }));
}

TEST_CASE("discovery: a sequential instance keeps its name through sessions", "[discovery]") {
  DiscoveryScene scene;
  ServiceInstance instance = printer("a");
  instance.type = ServiceType::dynamic_sequential;
  Registration registration = scene.add(instance);
  const std::string path = registration.path();
  CHECK(path.ends_with("-a0000000000"));
  for (int i = 0; i < 3; ++i) {
    scene.world.ensemble.expire(scene.client->session().id);
    CHECK(scene.world.run_until([&] { return scene.is_ours(path); }));
    CHECK(scene.world.ensemble.children("/services/printer").size() == 1);
  }
  registration = {};
  CHECK(scene.world.run_until(
      [&] { return scene.world.ensemble.children("/services/printer").empty(); }));
}

TEST_CASE("discovery: a fixed instance outlives a client that is closed first", "[discovery]") {
  for (const ServiceType type : {ServiceType::fixed, ServiceType::permanent}) {
    DiscoveryScene scene;
    ServiceInstance instance = printer("a");
    instance.type = type;
    {
      const Registration registration = scene.add(instance);
      CHECK(scene.look("/services/printer/a").stat.ephemeral_owner == 0);
      scene.client->close();
      scene.world.settle();
    }
    scene.world.settle();
    CHECK(scene.world.ensemble.exists("/services/printer/a"));
    // Another life of the instance takes the node over, and unregisters it.
    scene.client = scene.world.client("two");
    Registration registration = scene.add(ServiceDiscovery{*scene.client, scene.base}, instance);
    registration = {};
    CHECK(
        scene.world.run_until([&] { return !scene.world.ensemble.exists("/services/printer/a"); }));
  }
}

TEST_CASE("discovery: unregistering waits until the node is gone", "[discovery]") {
  DiscoveryScene scene;
  Registration registration = scene.add(printer("a"));
  const auto gone = run<bool>(
      scene.world, [&](auto done) { registration.async_unregister(Deadline::never(), done); });
  REQUIRE(gone.arrived());
  CHECK(gone.result());
  CHECK_FALSE(scene.world.ensemble.exists("/services/printer/a"));
  CHECK(registration.state() == State::closed);
}

TEST_CASE("discovery: a registration that is cancelled leaves nothing", "[discovery]") {
  DiscoveryScene scene;
  boost::asio::cancellation_signal signal;
  Outcome<Registration> outcome;
  const auto plan = std::make_shared<FaultsAt>("one");
  plan->submitted = [&](std::size_t step) {
    if (step != 0) return;
    boost::asio::post(scene.world.context,
                      [&] { signal.emit(boost::asio::cancellation_type::total); });
  };
  scene.world.ensemble.set_fault_plan(plan);
  scene.discovery.async_register_service(
      printer("a"), boost::asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
  REQUIRE(scene.world.run_until_arrived(outcome));
  CHECK(outcome.error() == boost::asio::error::operation_aborted);
  CHECK_FALSE(outcome.result());
  CHECK(scene.world.run_until_idle(*scene.client));
  CHECK_FALSE(scene.world.ensemble.exists("/services/printer/a"));
}

TEST_CASE("discovery: a registration that comes late says why, and leaves nothing", "[discovery]") {
  DiscoveryScene scene;
  scene.world.ensemble.cut_off("one");
  const auto late = run<Registration>(scene.world, [&](auto done) {
    scene.discovery.async_register_service(printer("a"), {.deadline = brief_limit}, done);
  });
  REQUIRE(late.arrived());
  CHECK(late.error() == Errc::deadline_exceeded);
  scene.world.ensemble.let_in("one");
  CHECK(scene.world.run_until_idle(*scene.client));
  CHECK_FALSE(scene.world.ensemble.exists("/services/printer/a"));
}

TEST_CASE("discovery: the same instance is registered once by a client", "[discovery]") {
  DiscoveryScene scene;
  const Registration registration = scene.add(printer("a"));
  CHECK_THROWS_AS(
      scene.discovery.async_register_service(printer("a"), [](error_code, const Registration&) {}),
      Error);
}

TEST_CASE("discovery: what is no instance is left out, and logged", "[discovery]") {
  DiscoveryScene scene;
  scene.make("1", "{\"port\":\n\"x\"}");
  scene.make("2", R"({"id":"b"})");
  scene.make("3", R"({"id":"a","enabled":false})");
  const auto found = scene.instances();
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == "a");
  CHECK(found[1].id == "b");
  REQUIRE(scene.world.run_until([&] { return !scene.warnings->empty(); }));
  CHECK(*scene.warnings ==
        std::vector<std::string>{"/services/printer/1 is left out: port is no whole number"});
}

TEST_CASE("discovery: many instances are read, also while some of them go", "[discovery]") {
  DiscoveryScene scene;
  for (int i = 0; i < 600; ++i) {
    scene.make(std::to_string(i), encode_instance(printer(std::to_string(1000 + i))));
  }
  const auto plan = std::make_shared<FaultsAt>("one");
  plan->replying = [&](std::size_t reply) {
    if (reply == 1) scene.world.remove("/services/printer/7");
  };
  scene.world.ensemble.set_fault_plan(plan);
  const auto found = scene.instances();
  CHECK(found.size() == 599);
  CHECK(std::ranges::is_sorted(found, {}, &ServiceInstance::id));
}

TEST_CASE("discovery: what is not there has neither names nor instances", "[discovery]") {
  DiscoveryScene scene;
  CHECK(scene.names().empty());
  CHECK(scene.instances().empty());
}

TEST_CASE("discovery: a server that lags behind does not hide an instance", "[discovery]") {
  DiscoveryScene scene;
  scene.world.ensemble.leave_server_behind();
  const Registration registration = scene.add(printer("a"));
  for (const bool names : {false, true}) {
    const auto late = scene.world.client("late");
    const ServiceDiscovery discovery{*late, scene.base};
    CHECK((names ? scene.names(discovery).size() : scene.instances(discovery).size()) == 1);
    scene.world.ensemble.leave_server_behind();
  }
}

TEST_CASE("discovery: names that cannot be nodes' are refused", "[discovery]") {
  DiscoveryScene scene;
  const auto nothing = [](error_code, const auto&...) {};
  CHECK_THROWS_AS(ServiceDiscovery(*scene.client, "services"), Error);
  for (const std::string name : {"", "a/b", ".."}) {
    CHECK_THROWS_AS(scene.discovery.async_instances(name, nothing), Error);
    CHECK_THROWS_AS(scene.discovery.async_register_service({.name = name}, nothing), Error);
  }
  CHECK_THROWS_AS(scene.discovery.async_register_service(printer("a/b"), nothing), Error);
  ServiceInstance instance = printer("a");
  instance.payload = "{";
  CHECK_THROWS_AS(scene.discovery.async_register_service(instance, nothing), Error);
  CHECK(scene.world.run_until_idle(*scene.client));
}

TEST_CASE("discovery: whether an instance is enabled is written as the options say",
          "[discovery]") {
  DiscoveryScene scene{{.enabled_member = EnabledMember::never}};
  ServiceInstance instance = printer("a");
  instance.enabled = false;
  const Registration registration = scene.add(instance);
  CHECK(scene.instances().front().enabled);
  CHECK_FALSE(registration.instance().enabled);
}

}  // namespace
}  // namespace custodian::tests::service_discovery_test
