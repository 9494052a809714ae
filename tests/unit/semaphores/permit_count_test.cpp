#include "semaphores/permit_count.hpp"

#include "support/catch.hpp"

namespace custodian::tests::permit_count_test {
namespace {

using namespace recipes_detail;

Listing leases(std::vector<std::string> names) { return Listing{std::move(names), permit_rule}; }

PermitJudgement judged(const Listing& listing, std::vector<std::string_view> mine,
                       std::size_t maximum) {
  return judge_permits(listing, mine, maximum);
}

TEST_CASE("a lease is within the maximum when fewer than that are lower") {
  const Listing listing = leases({"_c_x-lease-0000000007", "_c_y-lease-0000000003"});
  CHECK(std::holds_alternative<Held>(judged(listing, {"_c_y-lease-0000000003"}, 1)));
  CHECK(std::holds_alternative<Held>(judged(listing, {"_c_x-lease-0000000007"}, 2)));
  const PermitJudgement full = judged(listing, {"_c_x-lease-0000000007"}, 1);
  REQUIRE(std::holds_alternative<Full>(full));
  CHECK(std::get<Full>(full).missing == 1);
  CHECK(std::get<Full>(full).nearest == "_c_y-lease-0000000003");
}

TEST_CASE("who wants several permits has them when the last is within the maximum") {
  const Listing listing = leases({"a-lease-0000000001", "b-lease-0000000002", "c-lease-0000000003",
                                  "d-lease-0000000004", "e-lease-0000000005"});
  const std::vector<std::string_view> mine{"c-lease-0000000003", "e-lease-0000000005",
                                           "d-lease-0000000004"};
  CHECK(std::holds_alternative<Held>(judged(listing, mine, 5)));
  const PermitJudgement full = judged(listing, mine, 3);
  REQUIRE(std::holds_alternative<Full>(full));
  CHECK(std::get<Full>(full).missing == 2);
  CHECK(std::get<Full>(full).nearest == "b-lease-0000000002");
}

TEST_CASE("leases that come later do not count") {
  const Listing listing = leases({"a-lease-0000000001", "b-lease-0000000002"});
  CHECK(std::holds_alternative<Held>(judged(listing, {"a-lease-0000000001"}, 1)));
}

TEST_CASE("other children do not count, but a lease without a number does") {
  const Listing foreign = leases({"config", "a-lease-0000000001"});
  CHECK(std::holds_alternative<Held>(judged(foreign, {"a-lease-0000000001"}, 1)));
  const Listing malformed = leases({"x-lease-abc", "a-lease-0000000001"});
  CHECK(std::holds_alternative<Malformed>(judged(malformed, {"a-lease-0000000001"}, 1)));
  CHECK(std::holds_alternative<Held>(judged(malformed, {"a-lease-0000000001"}, 2)));
  const Listing both = leases({"x-lease-abc", "a-lease-0000000001", "b-lease-0000000002"});
  CHECK(std::holds_alternative<Full>(judged(both, {"b-lease-0000000002"}, 1)));
}

TEST_CASE("nobody is within a maximum of nothing") {
  CHECK(std::holds_alternative<Full>(
      judged(leases({"a-lease-0000000001"}), {"a-lease-0000000001"}, 0)));
}

TEST_CASE("a permit whose lease is missing, or beyond the numbers, is told apart") {
  const Listing listing = leases({"a-lease-0000000001", "b-lease-2147483647"});
  CHECK(std::holds_alternative<OwnNodeMissing>(judged(listing, {"c-lease-0000000002"}, 9)));
  CHECK(std::holds_alternative<OwnNodeMissing>(
      judged(listing, {"a-lease-0000000001", "c-lease-0000000002"}, 9)));
  CHECK(std::holds_alternative<Exhausted>(judged(listing, {"b-lease-2147483647"}, 9)));
}

}  // namespace
}  // namespace custodian::tests::permit_count_test
