// custodian discover, beside instances of the test's.

#include "cli/look.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::discover_test {
namespace {

using std::chrono::milliseconds;

ServiceInstance printer(std::string id) {
  return {.name = "printer",
          .id = std::move(id),
          .address = "10.0.0.7",
          .port = 631,
          .registered = ServiceInstance::Time{milliseconds{1'700'000'000'123}},
          .uri_spec = UriSpec{"{scheme}://{address}:{port}"}};
}

TEST_CASE("discover shows services, and the instances of one") {
  TestClient test{"discover"};
  const ServiceDiscovery discovery{*test, "/services"};
  CHECK(look(test, {"discover", "/services"}).output == "there is no service at /services\n");
  CHECK(look(test, {"discover", "/services", "printer"}).output ==
        "there is no instance at /services/printer\n");
  const Registration first = discovery.register_service(printer("a"));
  ServiceInstance disabled = printer("b");
  disabled.enabled = false;
  disabled.payload = text_payload("\x1b[2J");
  disabled.type = ServiceType::dynamic_sequential;
  disabled.uri_spec.reset();
  const Registration second = discovery.register_service(disabled);
  const Registration other = discovery.register_service({.name = "scanner"});
  test->create("/services/printer/x", "nonsense");

  CHECK(look(test, {"discover", "/services"}).output ==
        "printer  3 instances\nscanner  1 instance\n");
  const Result shown = look(test, {"discover", "/services", "printer"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.output, "a  http://10.0.0.7:631  dynamic, since 2023-11-14 22:13:20Z\n"));
  CHECK(contains(shown.output,
                 "b  10.0.0.7:631  dynamic sequential, since 2023-11-14 22:13:20Z, "
                 "disabled  \"\\\\u001b[2J\"\n"));
  CHECK(contains(shown.output, "/services/printer/x is no instance: it is not JSON\n"));
}

TEST_CASE("discover shows the same as JSON") {
  TestClient test{"discover-json"};
  const ServiceDiscovery discovery{*test, "/services"};
  ServiceInstance instance = printer("a");
  instance.payload = R"({"a":[1]})";
  const Registration registration = discovery.register_service(instance);
  ServiceInstance fixed{.name = "printer", .id = "b", .type = ServiceType::fixed};
  fixed.registered = ServiceInstance::Time::max();
  const Registration second = discovery.register_service(fixed);
  test->create("/services/printer/x", "[]");

  const auto services = look_json(test, {"discover", "/services"});
  CHECK(services["services"].dump() == R"([{"instances":3,"name":"printer"}])");
  const auto shown = look_json(test, {"discover", "/services", "printer"});
  REQUIRE(shown["instances"].size() == 2);
  const auto& seen = shown["instances"][0];
  CHECK(seen["id"] == "a");
  CHECK(seen["node"] == "/services/printer/a");
  CHECK(seen["uri"] == "http://10.0.0.7:631");
  CHECK(seen["port"] == 631);
  CHECK(seen["ssl_port"].is_null());
  CHECK(seen["type"] == "DYNAMIC");
  CHECK(seen["enabled"] == true);
  CHECK(seen["registered"] == "2023-11-14T22:13:20.123Z");
  CHECK(seen["session"].is_string());
  CHECK(seen["payload"] == R"({"a":[1]})");
  CHECK(shown["instances"][1]["session"].is_null());
  CHECK(shown["instances"][1]["registered"].is_null());
  CHECK(shown["malformed"][0]["fault"] == "it is no JSON object");
}

TEST_CASE("discover names a mistake in the command line") {
  TestClient test{"discover-mistakes"};
  CHECK(look(test, {"discover"}).status == 64);
  CHECK(look(test, {"discover", "services"}).status == 64);
  CHECK(look(test, {"discover", "/services", "a/b"}).status == 64);
}

}  // namespace
}  // namespace custodian::tests::discover_test
