// Service discovery with real servers: through cuts, restarts and lost sessions, no instance whose
// process lives is ever missing.

#include "custodian/discovery/service_discovery.hpp"

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <set>
#include <thread>

#include "custodian/discovery/service_provider.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::service_discovery_test {
namespace {

namespace asio = boost::asio;

constexpr auto base = "/services";

ServiceInstance printer(std::string id) {
  return {.name = "printer", .id = std::move(id), .address = "10.0.0.1", .port = 631};
}

Client beside(const TestClient& client, const std::string& servers = connect_string()) {
  ClientOptions options = options_for(servers);
  options.name_space = client.root();
  return Client{options};
}

std::size_t number_of(const ServiceProvider& provider) { return provider.all().size(); }

TEST_CASE("an instance is found while it is registered, and its data are those of its update") {
  TestClient client{"registered"};
  const ServiceDiscovery discovery{*client, base};
  ServiceProvider printers{discovery, "printer"};
  Registration registration = discovery.register_service(printer("a"));
  CHECK(discovery.names() == std::vector<std::string>{"printer"});
  REQUIRE(discovery.instances("printer").size() == 1);
  CHECK(discovery.instances("printer").front() == registration.instance());
  CHECK(printers.wait_any() == registration.instance());
  ServiceInstance changed = registration.instance();
  changed.payload = text_payload("duplex");
  registration.update(changed);
  CHECK(discovery.instances("printer").front() == changed);
  CHECK(eventually([&] { return printers.get() == changed; }));
  CHECK(registration.unregister());
  CHECK(discovery.instances("printer").empty());
  CHECK(eventually([&] { return !printers.get(); }));
  CHECK(printers.state() == MirrorState::synced);
}

TEST_CASE("instances of each type are registered, and unregistered") {
  TestClient client{"types"};
  const ServiceDiscovery discovery{*client, base};
  for (const ServiceType type : {ServiceType::dynamic, ServiceType::fixed, ServiceType::permanent,
                                 ServiceType::dynamic_sequential}) {
    ServiceInstance instance = printer("a");
    instance.type = type;
    {
      const Registration registration = discovery.register_service(instance);
      REQUIRE(discovery.instances("printer").size() == 1);
      CHECK(discovery.instances("printer").front().type == type);
    }
    CHECK(eventually([&] { return discovery.instances("printer").empty(); }));
  }
}

TEST_CASE("a discovery in a coroutine") {
  TestClient client{"coroutine"};
  const ServiceDiscovery discovery{*client, base};
  const ServiceProvider printers{discovery, "printer"};
  asio::io_context context;
  const auto work = [&]() -> asio::awaitable<std::string> {
    const ServiceInstance instance = printer("a");
    const Registration registration =
        co_await discovery.async_register_service(instance, asio::use_awaitable);
    const auto found = co_await printers.async_wait_any(asio::use_awaitable);
    const auto all = co_await discovery.async_instances("printer", asio::use_awaitable);
    const auto names = co_await discovery.async_names(asio::use_awaitable);
    co_return found->id + std::to_string(all.size()) + names.front();
  };
  auto result = asio::co_spawn(context, work, asio::use_future);
  context.run();
  CHECK(result.get() == "a1printer");
}

TEST_CASE("an instance whose process lives is never seen missing, whatever breaks") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"never-missing"};
  testing::FaultProxy proxy{own_server().endpoint()};
  Client working = beside(root, proxy.connect_string());
  Client looking = beside(root, proxy.connect_string());
  const ServiceDiscovery discovery{working, base};
  const Registration registration = discovery.register_service(printer("a"));
  const ServiceDiscovery seen{looking, base};
  const ServiceProvider printers{seen, "printer"};
  REQUIRE(printers.wait_any());

  std::atomic<bool> over = false;
  std::atomic<int> gaps = 0;
  std::thread watcher{[&] {
    while (!over) {
      if (number_of(printers) != 1) ++gaps;
      std::this_thread::yield();
    }
  }};
  const Stat before = root->exists("/services/printer/a").value();
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t connection = working.session().connection;
    proxy.cut();
    REQUIRE(eventually([&] {
      return working.session().connection > connection && is_connected(working.connection_state());
    }));
  }
  // No reconnection has written the node.
  CHECK(root->exists("/services/printer/a") == before);
  own_server().restart();
  REQUIRE(eventually([&] { return is_connected(working.connection_state()); }));
  // The provider's client loses its session, and the provider still knows the instances.
  const SessionInfo session = looking.session();
  own_server().expire_session(session.id, session.password);
  REQUIRE(eventually([&] {
    return looking.session().id != session.id && printers.state() == MirrorState::synced;
  }));
  over = true;
  watcher.join();
  CHECK(gaps == 0);
}

TEST_CASE("a process that is restarted takes over its instance, and nobody sees it missing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"restarted"};
  ServiceProvider printers{ServiceDiscovery{*root, base}, "printer"};
  testing::FaultProxy proxy{own_server().endpoint()};
  std::optional<Client> earlier{beside(root, proxy.connect_string())};
  std::optional<Registration> before{
      ServiceDiscovery{*earlier, base}.register_service(printer("a"))};
  REQUIRE(printers.wait_any());
  // The process is killed: its session stays.
  proxy.hold_back();
  std::atomic<bool> over = false;
  std::atomic<int> gaps = 0;
  std::thread watcher{[&] {
    while (!over) {
      if (number_of(printers) != 1) ++gaps;
      std::this_thread::yield();
    }
  }};
  Client later = beside(root);
  ServiceInstance instance = printer("a");
  instance.port = 632;
  const Registration after = ServiceDiscovery{later, base}.register_service(instance);
  CHECK(eventually([&] { return printers.get()->port == 632; }));
  own_server().expire_session(earlier->session().id, earlier->session().password);
  REQUIRE(eventually(
      [&] { return root->exists("/services/printer/a")->ephemeral_owner == later.session().id; }));
  CHECK(printers.get()->port == 632);
  over = true;
  watcher.join();
  CHECK(gaps == 0);
  proxy.heal();
}

TEST_CASE("a lost session is replaced, and its instances are registered again") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"lost"};
  Client client = beside(root);
  const ServiceDiscovery discovery{client, base};
  std::vector<Registration> registrations;
  for (int i = 0; i < 20; ++i) {
    ServiceInstance instance = printer(std::to_string(i));
    if (i % 2 == 0) instance.type = ServiceType::dynamic_sequential;
    registrations.push_back(discovery.register_service(instance));
  }
  const auto names = root->children("/services/printer").names;
  const SessionInfo session = client.session();
  own_server().expire_session(session.id, session.password);
  const ServiceDiscovery seen{*root, base};
  REQUIRE(eventually(
      [&] { return client.session().id != session.id && seen.instances("printer").size() == 20; }));
  const auto again = root->children("/services/printer").names;
  CHECK(std::set(names.begin(), names.end()) == std::set(again.begin(), again.end()));
  for (const std::string& name : again) {
    CHECK(root->exists("/services/printer/" + name)->ephemeral_owner == client.session().id);
  }
}

TEST_CASE("a provider knows who is there when others have come and gone") {
  TestClient client{"churn"};
  const ServiceDiscovery discovery{*client, base};
  const ServiceProvider printers{discovery, "printer"};
  std::atomic<int> failures = 0;
  std::vector<std::thread> processes;
  for (int process = 0; process != 4; ++process) {
    processes.emplace_back([&, process] {
      Client own = beside(client);
      const ServiceDiscovery its{own, base};
      for (int i = 0; i < 25; ++i) {
        const std::string id = std::to_string(process) + "-" + std::to_string(i);
        Registration registration = its.register_service(printer(id));
        if (i % 5 == 0) registration.update(registration.instance());
        if (i % 2 == 0 && !registration.unregister()) ++failures;
      }
    });
  }
  for (std::thread& each : processes) each.join();
  CHECK(failures == 0);
  CHECK(eventually([&] { return number_of(printers) == 0; }));
  CHECK(discovery.instances("printer").empty());
}

}  // namespace
}  // namespace custodian::tests::service_discovery_test
