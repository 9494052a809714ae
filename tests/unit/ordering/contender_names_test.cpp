// The names of contenders' nodes: those that a listing finds, and those that a client gives.

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ordering/contender_order.hpp"
#include "support/catch.hpp"
#include "unit/ordering/contenders.hpp"

namespace custodian::tests::contender_names_test {

using namespace custodian::recipes_detail;
using namespace contenders;

TEST_CASE("names of every client are read", "[contender_order]") {
  struct Case {
    NamingRule rule;
    std::string name;
    ContenderKind kind;
    custodian::NamingProfile profile;
    Sequence sequence;
  };
  constexpr auto exclusive = ContenderKind::exclusive;
  constexpr auto shared = ContenderKind::shared;
  const std::vector<Case> cases{
      {mutex_rule, a_lock + "0000000007", exclusive, custodian::NamingProfile::curator, 7},
      {mutex_rule, "_c_" + hex_a + "-lock-0000000007", exclusive, custodian::NamingProfile::curator,
       7},
      {mutex_rule, "lock-0000000000", exclusive, custodian::NamingProfile::curator, 0},
      {mutex_rule, "lock-12", exclusive, custodian::NamingProfile::curator, 12},
      {mutex_rule, "x-lock-3", exclusive, custodian::NamingProfile::curator, 3},
      {mutex_rule, "lock-1-lock-2", exclusive, custodian::NamingProfile::curator, 2},
      {mutex_rule, "lock-x-lock-2", exclusive, custodian::NamingProfile::curator, 2},
      {mutex_rule, "lock-lock-2", exclusive, custodian::NamingProfile::curator, 2},
      {mutex_rule, hex_a + "__lock__0000000009", exclusive, custodian::NamingProfile::kazoo, 9},
      {mutex_rule, "lock-__lock__5", exclusive, custodian::NamingProfile::kazoo, 5},
      {mutex_rule, "__lock__lock-5", exclusive, custodian::NamingProfile::curator, 5},
      {mutex_rule, "lock-2147483646", exclusive, custodian::NamingProfile::curator, 2147483646},
      {mutex_rule, "lock-2147483647", exclusive, custodian::NamingProfile::curator, 2147483647},
      {mutex_rule, "lock--2147483648", exclusive, custodian::NamingProfile::curator,
       std::numeric_limits<Sequence>::min()},
      {mutex_rule, "lock--000000001", exclusive, custodian::NamingProfile::curator, -1},
      {read_write_rule, writer + "0000000004", exclusive, custodian::NamingProfile::curator, 4},
      {read_write_rule, reader + "0000000005", shared, custodian::NamingProfile::curator, 5},
      {read_write_rule, hex_a + "__lock__0000000006", exclusive, custodian::NamingProfile::kazoo,
       6},
      {read_write_rule, hex_a + "__rlock__0000000007", shared, custodian::NamingProfile::kazoo, 7},
      {read_write_rule, "__READ____WRIT__8", exclusive, custodian::NamingProfile::curator, 8},
      {read_write_rule, "__WRIT__1__READ__8", shared, custodian::NamingProfile::curator, 8},
      {latch_rule, "_c_" + uuid_a + "-latch-0000000001", exclusive,
       custodian::NamingProfile::curator, 1},
      {latch_rule, "latch-2", exclusive, custodian::NamingProfile::curator, 2},
  };
  for (const auto& expected : cases) {
    CAPTURE(expected.name);
    const auto parsed = parse_name(expected.name, expected.rule);
    const auto* contender = std::get_if<ContenderName>(&parsed);
    REQUIRE(contender != nullptr);
    CHECK(contender->name == expected.name);
    CHECK(contender->kind == expected.kind);
    CHECK(contender->profile == expected.profile);
    CHECK(contender->sequence == expected.sequence);
  }
}

TEST_CASE("children without a lock name are foreign", "[contender_order]") {
  struct Case {
    NamingRule rule;
    std::string name;
  };
  const std::vector<Case> cases{
      {mutex_rule, ""},
      {mutex_rule, "0000000001"},
      {mutex_rule, "locks"},
      {mutex_rule, "leases"},
      {mutex_rule, "lock0000000001"},
      {mutex_rule, "lock_0000000001"},
      {mutex_rule, "LOCK-0000000001"},
      {mutex_rule, "_c_" + uuid_a + "-lease-0000000001"},
      {mutex_rule, "_c_" + uuid_a + "-latch-0000000001"},
      {mutex_rule, writer + "0000000001"},
      {mutex_rule, hex_a + "__rlock__0000000001"},
      {read_write_rule, a_lock + "0000000001"},
      {read_write_rule, "__writ__0000000001"},
      {latch_rule, a_lock + "0000000001"},
      {latch_rule, "latch"},
      {NamingRule{}, a_lock + "0000000001"},
  };
  for (const auto& [rule, name] : cases) {
    CAPTURE(name);
    CHECK(std::holds_alternative<Foreign>(parse_name(name, rule)));
  }
}

TEST_CASE("a lock name without a number of a server after it is malformed", "[contender_order]") {
  const std::string key = GENERATE("", "x", "-", "--1", "+1", " 1", "1 ", "1x", "x1", "0x10", "1.0",
                                   "1,0", "0000000001-old", "2147483648", "-2147483649",
                                   "99999999999999999999", "lock", "\u0661");
  CAPTURE(key);
  CHECK(std::holds_alternative<MalformedName>(parse_name("lock-" + key, mutex_rule)));
  CHECK(std::holds_alternative<MalformedName>(parse_name(a_lock + key, mutex_rule)));
  CHECK(std::holds_alternative<MalformedName>(parse_name(hex_a + "__lock__" + key, mutex_rule)));
  CHECK(std::holds_alternative<MalformedName>(parse_name(reader + key, read_write_rule)));
  CHECK(std::holds_alternative<MalformedName>(parse_name("lock-1-lock-" + key, mutex_rule)));
}

TEST_CASE("the name for a protected create carries its uuid", "[contender_order]") {
  const auto name = make_node_name(uuid_a, "lock-");
  CHECK(name == "_c_0a1b2c3d-0000-4000-8000-000000000001-lock-");
  CHECK(protection_id_of(name) == uuid_a);
  CHECK(protection_id_of(name + "0000000001") == uuid_a);
  CHECK(protection_id_of(make_node_name(uuid_b, "__WRIT__") + "0000000001") == uuid_b);
  CHECK(protection_id_of("_c_" + hex_a + "-lock-0000000001") == hex_a);
  CHECK(protection_id_of("_c_0A1B2C3D-0000-4000-8000-00000000000F-x") ==
        "0A1B2C3D-0000-4000-8000-00000000000F");
}

TEST_CASE("a name without protection has no id", "[contender_order]") {
  const std::string name = GENERATE(
      as<std::string>{}, "", "_c_", "_c_-lock-1", "lock-0000000001",
      "0a1b2c3d000040008000000000000001__lock__0000000009",
      "_c_0a1b2c3d-0000-4000-8000-000000000001", "_c_0a1b2c3d-0000-4000-8000-000000000001lock-1",
      "_c_0a1b2c3d-0000-4000-8000-00000000000-lock-1",
      "_c_0a1b2c3d-0000-4000-8000-0000000000011-lock-1",
      "_c_0a1b2c3d-0000-4000-8000-0000000000-lock-1", "_c_0a1b2c3d-0000-4000-8000-00000000-lock-1",
      "_c_0a1b2c3d-0000-4000-8000-00-lock-1", "_c_0a1b2c3d00004000800000000000001-lock-1",
      "_c_0a1b2c3d0000400080000000000000001-lock-1",
      "_c_0a1b2c3d-0000-4000-8000-00000000000g-lock-1",
      "_c_0a1b2c3d00000-4000-8000-000000000001-lock-1",
      "_c_0a1b2c3d00004000800000000000000g-lock-1", "_c_0a1b2c3d000040008000000000000001lock-1",
      "c_0a1b2c3d-0000-4000-8000-000000000001-lock-1",
      "_C_0a1b2c3d-0000-4000-8000-000000000001-lock-1",
      "x_c_0a1b2c3d-0000-4000-8000-000000000001-lock-1");
  CAPTURE(name);
  CHECK_FALSE(protection_id_of(name));
}

TEST_CASE("each kind and profile has its name", "[contender_order]") {
  using enum custodian::NamingProfile;
  CHECK(lock_name_of(mutex_rule, ContenderKind::exclusive, curator) == "lock-");
  CHECK(lock_name_of(mutex_rule, ContenderKind::exclusive, kazoo) == "__lock__");
  CHECK(lock_name_of(read_write_rule, ContenderKind::exclusive, curator) == "__WRIT__");
  CHECK(lock_name_of(read_write_rule, ContenderKind::exclusive, kazoo) == "__lock__");
  CHECK(lock_name_of(read_write_rule, ContenderKind::shared, curator) == "__READ__");
  CHECK(lock_name_of(read_write_rule, ContenderKind::shared, kazoo) == "__rlock__");
}

}  // namespace custodian::tests::contender_names_test
