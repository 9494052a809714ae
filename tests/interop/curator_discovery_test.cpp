// Instances that Curator's service discovery registers and finds, beside ours.

#include "curator.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "custodian/discovery/service_provider.hpp"
#include "support/test_client.hpp"

#define CUSTODIAN_REQUIRES_DISCOVERY() \
  CUSTODIAN_REQUIRES_OWN_SERVER();     \
  if (!has_curators_discovery())       \
  CUSTODIAN_SKIP("needs Curator's discovery and javac: tools/setup installs them, then build")

namespace custodian::tests::curator_discovery_test {
namespace {

bool has_curators_discovery() { return *CUSTODIAN_INTEROP_DISCOVERY_CLASSPATH != '\0'; }

Peer curators_discovery() {
  Peer peer = curator();
  peer.name = "Curator's discovery";
  peer.arguments_before.end()[-2] = CUSTODIAN_INTEROP_DISCOVERY_CLASSPATH;
  peer.arguments_before.back() = "CuratorDiscovery";
  return peer;
}

/// A discovery of ours, and a process with Curator's, at the same path.
struct Beside {
  explicit Beside(std::string_view test)
      : client{test},
        driver{curators_discovery(), connect_string() + client.root()},
        curators{driver, "curator"} {
    // The client's root is a chroot for Curator, and must exist.
    client->create("/services");
  }

  std::string curators_sight(const std::string& payload = "Object") {
    return curators.does("instances printer " + payload);
  }

  TestClient client;
  ServiceDiscovery discovery{*client, "/services"};
  Driver driver;
  Session curators;
};

ServiceInstance printer(std::string id, std::optional<std::string> payload = {}) {
  return {.name = "printer",
          .id = std::move(id),
          .address = "10.0.0.1",
          .port = 631,
          .payload = std::move(payload),
          .uri_spec = UriSpec{"{scheme}://{address}:{port}"}};
}

TEST_CASE("Curator finds our instances, with and without a payload") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-found"};
  const Registration none = beside.discovery.register_service(printer("a"));
  CHECK(beside.curators_sight("Void") == "a,http://10.0.0.1:631,enabled,none");
  CHECK(beside.curators.does("names") == "printer");
  const Registration text =
      beside.discovery.register_service(printer("b", text_payload("a \"text\" \xC3\xA4\n")));
  CHECK(beside.curators_sight("String") ==
        "a,http://10.0.0.1:631,enabled,none b,http://10.0.0.1:631,enabled,String");
}

TEST_CASE("Curator makes an object of a payload that names its class, and a map of another one") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-class"};
  Registration ours = beside.discovery.register_service(
      printer("a", object_payload("CuratorDiscovery$Details", R"({"zone":"x","weight":3})")));
  CHECK(beside.curators_sight("Details") == "a,http://10.0.0.1:631,enabled,x-3");
  ours.update(printer("a", R"({"zone":"x","weight":3})"));
  CHECK(beside.curators_sight() == "a,http://10.0.0.1:631,enabled,LinkedHashMap");
  CHECK_THROWS(beside.curators_sight("Details"));
}

TEST_CASE("we find Curator's instances, whatever their payload is") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-finds"};
  beside.curators.does("register printer a enabled none");
  beside.curators.does("register printer b enabled text");
  beside.curators.does("register printer c enabled zone-1");
  beside.curators.does("register printer d enabled list");
  const auto found = beside.discovery.instances("printer");
  REQUIRE(found.size() == 4);
  CHECK(found[0].uri() == "http://10.0.0.2:8080");
  CHECK_FALSE(found[0].payload);
  CHECK(found[1].payload == text_payload("a \"text\" \xC3\xA4"));
  CHECK(found[2].payload ==
        object_payload("CuratorDiscovery$Details", R"({"zone":"zone-1","weight":3})"));
  CHECK(found[3].payload == R"(["java.util.ArrayList",["a","b"]])");
  // Our library writes an instance that Curator has written in the same form again.
  for (const ServiceInstance& each : found) {
    CHECK(encode_instance(each, EnabledMember::always) ==
          beside.client->get("/services/printer/" + each.id).data);
  }
}

TEST_CASE("an instance that is disabled on one side is left out on the other") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-disabled"};
  ServiceProvider printers{beside.discovery, "printer"};
  beside.curators.does("register printer a disabled none");
  beside.curators.does("register printer b enabled none");
  ServiceInstance disabled = printer("c");
  disabled.enabled = false;
  const Registration ours = beside.discovery.register_service(disabled);
  const Registration enabled = beside.discovery.register_service(printer("d"));
  CHECK(beside.discovery.instances("printer").size() == 4);
  REQUIRE(eventually([&] { return printers.all().size() == 2; }));
  CHECK(printers.all()[0].id == "b");
  CHECK(printers.all()[1].id == "d");
  CHECK(beside.curators.does("await printer 2") ==
        "b,http://10.0.0.2:8080,enabled,none d,http://10.0.0.1:631,enabled,none");
}

TEST_CASE("Curator's provider and ours follow who comes and goes on the other side") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-follows"};
  ServiceProvider printers{beside.discovery, "printer"};
  CHECK(beside.curators.does("await printer 0").empty());
  Registration ours = beside.discovery.register_service(printer("a"));
  beside.curators.does("await printer 1");
  beside.curators.does("register printer b enabled none");
  CHECK(eventually([&] { return printers.all().size() == 2; }));
  beside.curators.does("await printer 2");
  CHECK(ours.unregister());
  beside.curators.does("await printer 1");
  CHECK(eventually([&] { return printers.all().size() == 1; }));
  beside.curators.does("unregister b");
  CHECK(eventually([&] { return printers.all().empty(); }));
}

TEST_CASE("an instance that one library has registered is taken over by the other") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-restarted"};
  beside.curators.does("register printer a enabled none");
  Registration ours = beside.discovery.register_service(printer("a"));
  CHECK(beside.curators_sight() == "a,http://10.0.0.1:631,enabled,none");
  CHECK(beside.client->exists("/services/printer/a")->ephemeral_owner ==
        beside.client->session().id);
  beside.driver.kill();
  CHECK(ours.unregister());
  CHECK(beside.discovery.instances("printer").empty());
}

TEST_CASE("Curator finds our numbered instances, and what it cannot read does not disturb ours") {
  CUSTODIAN_REQUIRES_DISCOVERY();
  Beside beside{"discovery-numbered"};
  ServiceInstance numbered = printer("a");
  numbered.type = ServiceType::dynamic_sequential;
  const Registration ours = beside.discovery.register_service(numbered);
  CHECK(beside.curators_sight() == "a,http://10.0.0.1:631,enabled,none");
  beside.client->create("/services/printer/x", "nonsense");
  CHECK_THROWS(beside.curators_sight());
  CHECK(beside.discovery.instances("printer").size() == 1);
  const ServiceProvider printers{beside.discovery, "printer"};
  CHECK(printers.wait_any()->id == "a");
}

}  // namespace
}  // namespace custodian::tests::curator_discovery_test
