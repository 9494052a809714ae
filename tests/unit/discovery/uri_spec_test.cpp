#include "custodian/discovery/uri_spec.hpp"

#include "custodian/discovery/service_instance.hpp"
#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::uri_spec_test {
namespace {

using Part = UriSpec::Part;

TEST_CASE("URI spec: the scheme says whether there is a port for TLS", "[discovery]") {
  const UriSpec spec{"{scheme}://foo.com"};
  ServiceInstance instance{.name = "foo", .id = "x", .port = 5};
  CHECK(spec.build(instance) == "http://foo.com");
  instance.ssl_port = 5;
  CHECK(spec.build(instance) == "https://foo.com");
  CHECK(spec.fill() == "http://foo.com");
}

TEST_CASE("URI spec: an instance has all variables, and the caller's come first", "[discovery]") {
  const ServiceInstance instance{
      .name = "foo",
      .id = "bar",
      .address = "1.2.3.4",
      .port = 5,
      .ssl_port = 6,
      .registered = ServiceInstance::Time{std::chrono::milliseconds{789}},
      .type = ServiceType::dynamic_sequential};
  const UriSpec spec{
      "{scheme}://{address}:{port}:{ssl-port}/{name}/{id}/{registration-time-utc}/{service-type}"};
  CHECK(spec.build(instance, {{"scheme", "test"}}) ==
        "test://1.2.3.4:5:6/foo/bar/789/dynamic_sequential");
  CHECK(UriSpec{"{address}:{port}"}.build(ServiceInstance{}) == ":");
}

TEST_CASE("URI spec: a pattern is taken apart", "[discovery]") {
  const UriSpec spec{"{one}two-three-{[}four{]}-five{ six }{}"};
  CHECK(spec.parts() == std::vector<Part>{{"one", true},
                                          {"two-three-", false},
                                          {"[", true},
                                          {"four", false},
                                          {"]", true},
                                          {"-five", false},
                                          {"six", true}});
  CHECK(spec.fill({{"one", "1"}, {"six", "6"}}) == "1two-three-{four}-five6");
  CHECK(spec.fill() == "two-three-{four}-five");
  CHECK(UriSpec{""}.parts().empty());
  CHECK(UriSpec{spec.parts()} == spec);
}

TEST_CASE("URI spec: braces that do not match are refused", "[discovery]") {
  check_refused([] { return UriSpec{"{a"}; }, "UriSpec", "the last brace is not closed: {a");
  check_refused([] { return UriSpec{"a}"}; }, "UriSpec",
                "a brace is closed that was not opened: a}");
  check_refused([] { return UriSpec{"{a{b}}"}; }, "UriSpec",
                "a variable has no brace in its name: {a{b}}");
}

}  // namespace
}  // namespace custodian::tests::uri_spec_test
