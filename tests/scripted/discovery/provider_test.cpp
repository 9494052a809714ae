// What a provider knows, and gives, over an in-memory ensemble.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include "custodian/discovery/service_provider.hpp"
#include "scripted/discovery/discovery_scene.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::provider_test {
namespace {

using Ids = std::vector<std::string>;
using Found = std::optional<ServiceInstance>;

struct Providing : DiscoveryScene {
  explicit Providing(ServiceProviderOptions options = {}) { follow(std::move(options)); }
  void follow(ServiceProviderOptions options = {}) {
    provider.emplace(discovery, "printer", std::move(options));
  }
  Ids ids() {
    Ids result;
    for (const ServiceInstance& each : provider->all()) result.push_back(each.id);
    return result;
  }
  bool until(const Ids& expected) {
    return world.run_until([&] { return ids() == expected; });
  }
  bool until_synced() {
    return world.run_until([&] { return provider->state() == MirrorState::synced; });
  }

  std::optional<ServiceProvider> provider;
};

std::string json(const std::string& id) { return encode_instance(printer(id)); }

TEST_CASE("provider: it knows who comes, changes and goes", "[discovery]") {
  Providing scene;
  REQUIRE(scene.until_synced());
  CHECK_FALSE(scene.provider->get());
  CHECK(scene.ids().empty());
  Registration a = scene.add(printer("a"));
  scene.make("2", json("b"));
  CHECK(scene.until({"a", "b"}));
  ServiceInstance changed = printer("a");
  changed.port = 5;
  const auto updated = run<>(scene.world, [&](auto done) { a.async_update(changed, done); });
  REQUIRE_FALSE(updated.error());
  CHECK(scene.world.run_until([&] { return scene.provider->all().front().port == 5; }));
  a = {};
  CHECK(scene.until({"b"}));
  scene.world.remove("/services/printer/2");
  CHECK(scene.until({}));
}

TEST_CASE("provider: it is in sync once it knows all that was there", "[discovery]") {
  DiscoveryScene scene;
  for (int i = 0; i < 50; ++i) scene.make(std::to_string(i), json(std::to_string(100 + i)));
  ServiceProvider provider{scene.discovery, "printer"};
  CHECK(provider.state() == MirrorState::loading);
  REQUIRE(scene.world.run_until([&] { return provider.state() == MirrorState::synced; }));
  CHECK(provider.all().size() == 50);
}

TEST_CASE("provider: disabled instances and those that a filter refuses are left out",
          "[discovery]") {
  Providing scene{{.filters = {[](const ServiceInstance& each) { return each.port == 631; },
                               [](const ServiceInstance& each) { return each.id != "c"; }}}};
  ServiceInstance disabled = printer("a");
  disabled.enabled = false;
  scene.make("1", encode_instance(disabled));
  ServiceInstance other = printer("b");
  other.port = 80;
  scene.make("2", encode_instance(other));
  scene.make("3", json("c"));
  scene.make("4", json("d"));
  CHECK(scene.until({"d"}));
  for (int i = 0; i < 10; ++i) CHECK(scene.provider->get()->id == "d");
  CHECK(scene.provider->get_for("key")->id == "d");
  // An instance is enabled again.
  scene.world.ensemble.operate(request::Set{"/services/printer/1", json("a")});
  CHECK(scene.until({"a", "d"}));
}

TEST_CASE("provider: what is no instance is logged, listed and left out", "[discovery]") {
  Providing scene;
  scene.make("1", json("a"));
  scene.make("2", "[]");
  REQUIRE(scene.until({"a"}));
  REQUIRE(scene.world.run_until([&] { return scene.warnings->size() == 1; }));
  CHECK(scene.warnings->front() == "/services/printer/2 is no instance: it is no JSON object");
  CHECK(scene.provider->malformed() == Ids{"/services/printer/2"});
  // The earlier version of an instance does not stay.
  scene.world.ensemble.operate(request::Set{"/services/printer/1", "x"});
  CHECK(scene.until({}));
  scene.world.remove("/services/printer/2");
  scene.world.ensemble.operate(request::Set{"/services/printer/1", json("b")});
  CHECK(scene.until({"b"}));
  CHECK(scene.world.run_until([&] { return scene.provider->malformed().empty(); }));
}

TEST_CASE("provider: the service's own node is no instance", "[discovery]") {
  Providing scene;
  scene.world.make("/services");
  scene.world.make("/services/printer", json("x"));
  scene.make("1", json("a"));
  CHECK(scene.until({"a"}));
}

TEST_CASE("provider: an instance with too many errors is out, whatever becomes of its data",
          "[discovery]") {
  Providing scene{{.down = {.errors = 2, .time = std::chrono::hours{1}}}};
  scene.make("1", json("a"));
  scene.make("2", json("b"));
  REQUIRE(scene.until({"a", "b"}));
  const ServiceInstance failing = scene.provider->all().front();
  scene.provider->note_error(failing);
  scene.provider->note_error(scene.provider->all().back());
  CHECK(scene.ids() == Ids{"a", "b"});
  scene.provider->note_error(failing);
  CHECK(scene.ids() == Ids{"b"});
  ServiceInstance changed = printer("a");
  changed.port = 5;
  scene.world.ensemble.operate(request::Set{"/services/printer/1", encode_instance(changed)});
  scene.make("3", json("c"));
  CHECK(scene.until({"b", "c"}));
}

TEST_CASE("provider: a wait ends with an instance that comes", "[discovery]") {
  Providing scene;
  Outcome<Found> outcome;
  scene.provider->async_wait_any(outcome.handler());
  REQUIRE(scene.until_synced());
  CHECK_FALSE(outcome.arrived());
  scene.make("1", json("a"));
  REQUIRE(scene.world.run_until_arrived(outcome));
  CHECK_FALSE(outcome.error());
  CHECK(outcome.result()->id == "a");
}

TEST_CASE("provider: a wait ends with an instance that is no longer down", "[discovery]") {
  Providing scene{{.down = {.errors = 1, .time = std::chrono::milliseconds{50}}}};
  scene.make("1", json("a"));
  REQUIRE(scene.until({"a"}));
  scene.provider->note_error(*scene.provider->get());
  const auto found =
      run<Found>(scene.world, [&](auto done) { scene.provider->async_wait_any(done); });
  REQUIRE(found.arrived());
  CHECK(found.result()->id == "a");
}

TEST_CASE("provider: a wait ends at its deadline, with nothing", "[discovery]") {
  Providing scene;
  const auto found = run<Found>(
      scene.world, [&](auto done) { scene.provider->async_wait_any(Deadline{brief_limit}, done); });
  REQUIRE(found.arrived());
  CHECK_FALSE(found.error());
  CHECK_FALSE(found.result());
}

TEST_CASE("provider: a wait is cancelled, and ends with the provider or the client",
          "[discovery]") {
  Providing scene;
  REQUIRE(scene.until_synced());
  boost::asio::cancellation_signal signal;
  Outcome<Found> cancelled;
  scene.provider->async_wait_any(
      boost::asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  scene.world.settle();
  signal.emit(boost::asio::cancellation_type::total);
  REQUIRE(scene.world.run_until_arrived(cancelled));
  CHECK(cancelled.error() == boost::asio::error::operation_aborted);

  Outcome<Found> ended;
  scene.provider->async_wait_any(ended.handler());
  scene.world.settle();
  scene.provider.reset();
  REQUIRE(scene.world.run_until_arrived(ended));
  CHECK(ended.error() == boost::asio::error::operation_aborted);

  scene.follow();
  scene.make("1", json("a"));
  REQUIRE(scene.until({"a"}));
  scene.provider->note_error(printer("a"));
  scene.provider->note_error(printer("a"));
  Outcome<Found> closed;
  scene.provider->async_wait_any(closed.handler());
  scene.world.settle();
  scene.client->close();
  REQUIRE(scene.world.run_until_arrived(closed));
  CHECK(closed.error() == Errc::closed);
  CHECK(scene.provider->state() == MirrorState::closed);
  // What was known stays known.
  CHECK(scene.provider->malformed().empty());
}

TEST_CASE("provider: an instance whose process lives is never missing", "[discovery]") {
  Providing scene;
  const auto other = scene.world.client("other");
  const Registration registration = scene.add(ServiceDiscovery{*other, scene.base}, printer("a"));
  REQUIRE(scene.until({"a"}));
  bool was_missing = false;
  const auto present = [&] {
    was_missing = was_missing || scene.ids() != Ids{"a"};
    return !was_missing;
  };
  for (int i = 0; i < 10; ++i) {
    scene.world.ensemble.disconnect(other->session().id);
    scene.world.ensemble.disconnect(scene.client->session().id);
    CHECK(scene.world.run_until([&] {
      return present() && other->connection_state() == ConnectionState::reconnected &&
             scene.provider->state() == MirrorState::synced;
    }));
    scene.world.ensemble.expire(scene.client->session().id);
    CHECK(scene.world.run_until(
        [&] { return present() && scene.provider->state() == MirrorState::resyncing; }));
    CHECK(scene.world.run_until(
        [&] { return present() && scene.provider->state() == MirrorState::synced; }));
  }
  CHECK_FALSE(was_missing);
}

/// Puts an instance in the place of one, in one transaction, as a restarted process does.
void replace(World& world, const std::string& id, const std::string& data) {
  const std::string path = "/services/printer/" + id;
  world.ensemble.operate(request::Multi{
      {request::Remove{path}, request::Create{.path = path, .data = data, .acl = open_acl()}}});
}

TEST_CASE("provider: an instance that is put in the place of its earlier life is never missing",
          "[discovery]") {
  Providing scene;
  scene.make("1", json("a"));
  REQUIRE(scene.until({"a"}));
  REQUIRE(scene.until_synced());
  for (int port = 1; port < 20; ++port) {
    ServiceInstance later = printer("a");
    later.port = port;
    replace(scene.world, "1", encode_instance(later));
    CHECK(scene.world.run_until([&] {
      REQUIRE(scene.ids() == Ids{"a"});
      return scene.provider->get()->port == port;
    }));
    scene.world.settle();
    REQUIRE(scene.ids() == Ids{"a"});
  }
  scene.world.remove("/services/printer/1");
  CHECK(scene.until({}));
}

TEST_CASE("provider: an instance that goes, comes and goes again is gone", "[discovery]") {
  // Behind each request of the provider, another client acts.
  for (std::size_t first = 0; first < 6; ++first) {
    for (std::size_t second = first; second < 8; ++second) {
      Providing scene;
      scene.make("1", json("a"));
      REQUIRE(scene.until({"a"}));
      REQUIRE(scene.until_synced());
      scene.world.settle();
      const auto plan = std::make_shared<FaultsAt>("one");
      plan->replying = [&](std::size_t reply) {
        if (reply == first) scene.world.make("/services/printer/1", json("a"));
        if (reply == second) scene.world.remove("/services/printer/1");
      };
      scene.world.ensemble.set_fault_plan(plan);
      scene.world.remove("/services/printer/1");
      scene.world.settle();
      scene.world.remove("/services/printer/1");
      CHECK(scene.until({}));
      scene.make("2", json("b"));
      CHECK(scene.until({"b"}));
    }
  }
}

TEST_CASE("provider: a provider that is destroyed leaves nothing", "[discovery]") {
  Providing scene;
  scene.make("1", json("a"));
  REQUIRE(scene.until({"a"}));
  ServiceProvider moved{std::move(*scene.provider)};
  *scene.provider = ServiceProvider{scene.discovery, "scanner"};
  CHECK(moved.get()->id == "a");
  moved = std::move(*scene.provider);
  scene.provider.reset();
  CHECK_FALSE(moved.get());
  { const ServiceProvider last{std::move(moved)}; }
  CHECK(scene.world.run_until_idle(*scene.client));
  CHECK(scene.world.run_until([&] { return scene.world.ensemble.watches() == 0; }));
}

TEST_CASE("provider: options that make no sense are refused", "[discovery]") {
  DiscoveryScene scene;
  const auto refuse = [&](ServiceProviderOptions options, std::string_view why) {
    check_refused(
        [&] { return ServiceProvider(scene.discovery, "printer", std::move(options)).get(); },
        "ServiceProvider", why);
  };
  refuse({.filters = {InstanceFilter{}}}, "a filter is empty");
  refuse({.down = {.errors = 0}}, "an instance is down after one error at least");
  refuse({.down = {.time = std::chrono::milliseconds{0}}}, "an instance is down for some time");
  CHECK_THROWS_AS(ServiceProvider(scene.discovery, "a/b"), Error);
}

}  // namespace
}  // namespace custodian::tests::provider_test
