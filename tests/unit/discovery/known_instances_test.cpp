#include "known_instances.hpp"

#include "support/catch.hpp"

namespace custodian::tests::known_instances_test {
namespace {

using discovery_detail::KnownInstances;

std::vector<std::string> ids(KnownInstances& known) {
  std::vector<std::string> result;
  for (const auto& each : known.all()) result.push_back(each->id);
  return result;
}

TEST_CASE("known instances: they are in the order of their ids", "[discovery]") {
  KnownInstances known;
  CHECK(known.all().empty());
  CHECK_FALSE(known.put("3", R"({"id":"b"})"));
  CHECK_FALSE(known.put("1", R"({"id":"c"})"));
  CHECK_FALSE(known.put("2", R"({"id":"a"})"));
  CHECK(ids(known) == std::vector<std::string>{"a", "b", "c"});
  known.remove("1");
  known.remove("unknown");
  CHECK(ids(known) == std::vector<std::string>{"a", "b"});
  CHECK_FALSE(known.put("2", R"({"id":"z"})"));
  CHECK(ids(known) == std::vector<std::string>{"b", "z"});
  // Two nodes with one id.
  CHECK_FALSE(known.put("0", R"({"id":"z","port":1})"));
  REQUIRE(known.all().size() == 3);
  CHECK(known.all()[1]->port == 1);
}

TEST_CASE("known instances: a node that cannot be decoded is no instance any more", "[discovery]") {
  KnownInstances known;
  CHECK_FALSE(known.put("1", R"({"id":"a"})"));
  CHECK(known.put("1", "x") == "it is not JSON");
  CHECK(known.put("0", "[]") == "it is no JSON object");
  CHECK(known.all().empty());
  CHECK(known.malformed() == std::vector<std::string>{"0", "1"});
  CHECK_FALSE(known.put("1", R"({"id":"a"})"));
  known.remove("0");
  CHECK(ids(known) == std::vector<std::string>{"a"});
  CHECK(known.malformed().empty());
}

}  // namespace
}  // namespace custodian::tests::known_instances_test
