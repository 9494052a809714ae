// The JSON of an instance. Curator 5.4.0's JsonInstanceSerializer has written the texts named
// "Curator's", and has read all texts that are accepted here.

#include "custodian/discovery/instance_json.hpp"

#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::instance_json_test {
namespace {

constexpr std::string_view head =
    R"({"name":"printer","id":"id-1","address":"10.0.0.1","port":8080,"sslPort":null,"payload":)";
constexpr std::string_view middle =
    R"(,"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC","uriSpec":)";

std::string curators(std::string_view payload, std::string_view spec = "null",
                     std::string_view rest = "") {
  return std::string{head}.append(payload).append(middle).append(spec).append(rest) + "}";
}

ServiceInstance printer() {
  return {.name = "printer",
          .id = "id-1",
          .address = "10.0.0.1",
          .port = 8080,
          .registered = ServiceInstance::Time{std::chrono::milliseconds{1'700'000'000'123}}};
}

ServiceInstance decoded(std::string_view json) {
  const DecodedInstance result = decode_instance(json);
  CAPTURE(json, result.fault);
  REQUIRE(result.instance);
  return *result.instance;
}

TEST_CASE("instance JSON: an instance is written as Curator writes it", "[discovery]") {
  CHECK(encode_instance(printer()) == curators("null"));
  CHECK(decoded(curators("null")) == printer());

  ServiceInstance with_spec = printer();
  with_spec.uri_spec = UriSpec{"{scheme}://{address}:{port}"};
  const std::string spec =
      R"({"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},)"
      R"({"value":"address","variable":true},{"value":":","variable":false},)"
      R"({"value":"port","variable":true}]})";
  CHECK(encode_instance(with_spec) == curators("null", spec));
  CHECK(decoded(curators("null", spec)) == with_spec);
}

TEST_CASE("instance JSON: all members are written and read again", "[discovery]") {
  for (const ServiceType type : {ServiceType::dynamic, ServiceType::fixed, ServiceType::permanent,
                                 ServiceType::dynamic_sequential}) {
    const ServiceInstance instance{.name = "n \"\\/\n\x01 \xC3\xA4",
                                   .id = "",
                                   .address = "",
                                   .port = -1,
                                   .ssl_port = std::numeric_limits<std::int32_t>::max(),
                                   .payload = R"({ "b" : [1e2, 12345678901234567890123] })",
                                   .registered = ServiceInstance::Time::min(),
                                   .type = type,
                                   .uri_spec = UriSpec{"{[}{one} two"},
                                   .enabled = false};
    CHECK(decoded(encode_instance(instance)) == instance);
  }
}

TEST_CASE("instance JSON: Curator's default form never says whether an instance is enabled",
          "[discovery]") {
  ServiceInstance instance = printer();
  CHECK(encode_instance(instance, EnabledMember::always) ==
        curators("null", "null", R"(,"enabled":true)"));
  CHECK(encode_instance(instance, EnabledMember::never) == curators("null"));
  instance.enabled = false;
  CHECK(encode_instance(instance) == curators("null", "null", R"(,"enabled":false)"));
  CHECK(encode_instance(instance, EnabledMember::always) == encode_instance(instance));
  CHECK(encode_instance(instance, EnabledMember::never) == curators("null"));
  CHECK(decoded(curators("null", "null", R"(,"enabled":false)")) == instance);
}

TEST_CASE("instance JSON: a payload is passed on as it is written", "[discovery]") {
  for (const std::string payload :
       {R"("a \"b\" \u0001\u001F \uD83D\uDE00 / \\")", R"({"@class":"Dump$Payload","zone":"a"})",
        R"(["java.util.ArrayList",["x",1]])", R"(["java.lang.Long",5])", "5", "0.1000", "true",
        R"("\",\"port\":{")", R"([{"]}":"},"},[]])", R"({ "a" : 1 })",
        "123456789012345678901234567890"}) {
    ServiceInstance instance = printer();
    instance.payload = payload;
    CHECK(encode_instance(instance) == curators(payload));
    CHECK(decoded(curators(payload)) == instance);
  }
}

TEST_CASE("instance JSON: what is around a payload is not written", "[discovery]") {
  ServiceInstance instance = printer();
  instance.payload = "\xEF\xBB\xBF { } \n";
  CHECK(encode_instance(instance) == curators("{ }"));
  instance.payload = std::string{"5\0x", 3};
  check_refused([&] { return encode_instance(instance); }, "encode_instance",
                "the payload is not JSON");
}

TEST_CASE("instance JSON: a deep payload costs no stack", "[discovery]") {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  CHECK(decoded(curators(deep)).payload == deep);
  CHECK_FALSE(decode_instance(curators("null", deep)).instance);
  CHECK_FALSE(decode_instance(curators("null", "{\"parts\":" + deep + "}")).instance);
}

TEST_CASE("instance JSON: an instance of Spring Cloud's is read", "[discovery]") {
  const ServiceInstance instance =
      decoded(R"({"name":"x","id":"7a2d","address":"host","port":8080,"sslPort":null,"payload":)"
              R"({"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance",)"
              R"("id":"application-1","name":"x","metadata":{"instance_status":"UP"}},)"
              R"("registrationTimeUTC":1523525131107,"serviceType":"DYNAMIC","uriSpec":{"parts":[)"
              R"({"value":"scheme","variable":true},{"value":"://","variable":false},)"
              R"({"value":"address","variable":true},{"value":":","variable":false},)"
              R"({"value":"port","variable":true}]}})");
  CHECK(instance.uri() == "http://host:8080");
  CHECK(instance.payload ==
        R"({"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance",)"
        R"("id":"application-1","name":"x","metadata":{"instance_status":"UP"}})");
}

TEST_CASE("instance JSON: what is missing, null or unknown is no fault", "[discovery]") {
  const ServiceInstance empty{.registered = ServiceInstance::Time{}};
  for (const std::string_view json :
       {"{}", " { } ", "\xEF\xBB\xBF{}", R"({"what":{"name":"x"},"else":["}",1]})",
        R"({"name":null,"id":null,"port":null,"registrationTimeUTC":null,"serviceType":null})"}) {
    CHECK(decoded(json) == empty);
  }
  CHECK(decoded(R"({"uriSpec":{}})").uri_spec == UriSpec{});
  CHECK(decoded(R"({"uriSpec":{"parts":[{}]}})").uri_spec->parts().size() == 1);
  CHECK(decoded(R"({ "port" : 5 , "n\u0061me" : "first", "name" : "last" })").name == "last");
}

TEST_CASE("instance JSON: what is no instance is a fault, and says why", "[discovery]") {
  for (const auto& [json, fault] : std::vector<std::pair<std::string, std::string>>{
           {"", "it is not JSON"},
           {"{", "it is not JSON"},
           {"{} x", "it is not JSON"},
           {std::string{"{}\0x", 4}, "it is not JSON"},
           {"{\"name\":\"\xFF\"}", "it is not JSON"},
           {"[]", "it is no JSON object"},
           {"null", "it is no JSON object"},
           {R"({"name":5})", "name is no string"},
           {R"({"id":[]})", "id is no string"},
           {R"({"address":{}})", "address is no string"},
           {R"({"port":"80"})", "port is no whole number"},
           {R"({"port":80.5})", "port is no whole number"},
           {R"({"port":2147483648})", "port is no whole number"},
           {R"({"sslPort":-2147483649})", "sslPort is no whole number"},
           {R"({"registrationTimeUTC":9223372036854775808})",
            "registrationTimeUTC is no whole number"},
           {R"({"serviceType":"OTHER"})", "serviceType is none that is known"},
           {R"({"serviceType":1})", "serviceType is no string"},
           {R"({"enabled":1})", "enabled is neither true nor false"},
           {R"({"uriSpec":"x"})", "uriSpec is no object"},
           {R"({"uriSpec":{"parts":{}}})", "uriSpec has no list of parts"},
           {R"({"uriSpec":{"parts":[1]}})", "a part of uriSpec is none"},
           {R"({"uriSpec":{"parts":[{"value":1}]}})", "a part of uriSpec is none"},
           {R"({"uriSpec":{"parts":[{"variable":"x"}]}})", "a part of uriSpec is none"}}) {
    CAPTURE(json);
    const DecodedInstance result = decode_instance(json);
    CHECK_FALSE(result.instance);
    CHECK(result.fault == fault);
  }
}

TEST_CASE("instance JSON: a payload is made of a text, or of an object of a class of Java's",
          "[discovery]") {
  CHECK(text_payload("a \"b\"\n") == R"("a \"b\"\n")");
  CHECK(object_payload("p.Q", "{}") == R"({"@class":"p.Q"})");
  CHECK(object_payload("p.Q", R"( { "a" : 1, "b":{"c":2} } )") ==
        R"({"@class":"p.Q","a":1,"b":{"c":2}})");
}

TEST_CASE("instance JSON: what cannot be written is refused", "[discovery]") {
  ServiceInstance instance = printer();
  instance.payload = "{";
  check_refused([&] { return encode_instance(instance); }, "encode_instance",
                "the payload is not JSON");
  instance = printer();
  instance.address = "\xFF";
  check_refused([&] { return encode_instance(instance); }, "encode_instance",
                "a text is not UTF-8");
  check_refused([] { return text_payload("\xFF"); }, "text_payload", "a text is not UTF-8");
  check_refused([] { return object_payload("p.Q", "[]"); }, "object_payload",
                "the text is no JSON object");
}

}  // namespace
}  // namespace custodian::tests::instance_json_test
