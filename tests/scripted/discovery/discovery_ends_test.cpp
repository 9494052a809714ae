// Service discovery whose context nobody runs, or that is destroyed.

#include <boost/asio/io_context.hpp>
#include <memory>

#include "custodian/discovery/service_provider.hpp"
#include "scripted/discovery/discovery_scene.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::discovery_ends_test {
namespace {

using namespace std::chrono_literals;

template <typename Call>
void is_late(Call call, Errc expected) {
  try {
    static_cast<void>(call());
    FAIL_CHECK("it has ended without an error");
  } catch (const Error& error) {
    CHECK(error.code() == expected);
  }
}

TEST_CASE("discovery: calls end at their deadlines though nobody runs the context", "[discovery]") {
  DiscoveryScene scene;
  const OperationOptions soon{Deadline{brief_limit}};
  is_late([&] { return scene.discovery.register_service(printer("a"), soon); },
          Errc::deadline_exceeded);
  is_late([&] { return scene.discovery.names({Deadline{brief_limit}}); }, Errc::deadline_exceeded);
  is_late([&] { return scene.discovery.instances("printer", {Deadline{brief_limit}}); },
          Errc::deadline_exceeded);
  {
    const ServiceProvider provider{scene.discovery, "printer"};
    CHECK_FALSE(provider.wait_any(Deadline{brief_limit}));
    CHECK(scene.world.run_until([&] { return provider.state() == MirrorState::synced; }));
  }
  CHECK(scene.world.run_until_idle(*scene.client));
  CHECK_FALSE(scene.world.ensemble.exists("/services/printer/a"));
}

TEST_CASE("discovery: what waits goes with the context, and what was known stays", "[discovery]") {
  const LeaksAreExpected leaks;
  World world;
  for (const char* path : {"/services", "/services/printer"}) world.make(path);
  world.make("/services/printer/1", encode_instance(printer("a")));
  auto context = std::make_unique<boost::asio::io_context>(1);
  auto client = std::make_unique<Client>(context->get_executor(), world.options("doomed"));
  const auto settle = [&] {
    while (context->run_one_for(20ms) != 0) {
    }
  };
  while (!is_connected(client->connection_state())) context->run_one_for(World::limit);

  const ServiceDiscovery discovery{*client, "/services"};
  std::optional<ServiceProvider> provider{std::in_place, discovery, "printer"};
  std::optional<ServiceProvider> nobody{std::in_place, discovery, "scanner"};
  const auto owned = std::make_shared<int>();
  nobody->async_wait_any([owned](error_code, const std::optional<ServiceInstance>&) {});
  settle();
  // The next request is not answered.
  const Faults first{{0, {.kind = FaultKind::delay}}};
  world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("doomed", first));
  discovery.async_register_service(printer("b"), [owned](error_code, const Registration&) {});
  settle();
  CHECK(owned.use_count() == 3);
  client.reset();
  context.reset();
  CHECK(owned.use_count() == 1);
  CHECK(provider->state() == MirrorState::closed);
  CHECK(provider->get()->id == "a");
  provider.reset();
  nobody.reset();
}

}  // namespace
}  // namespace custodian::tests::discovery_ends_test
