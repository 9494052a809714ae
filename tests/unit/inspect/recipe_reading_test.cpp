#include "inspect/recipe_reading.hpp"

#include <algorithm>

#include "shared/big_endian.hpp"
#include "support/catch.hpp"

namespace custodian::tests::recipe_reading_test {
namespace {

using namespace recipes_detail;

const std::string one = "01234567-89ab-cdef-0123-456789abcdef";
const std::string other = "11234567-89ab-cdef-0123-456789abcdef";
const std::string kazoos = "0123456789abcdef0123456789abcdef";
const std::string prefix = "_c_" + one + "-";

GetResult with(std::string data, std::int32_t version = 0) {
  return {.data = std::move(data), .stat = {.version = version}};
}

TEST_CASE("a condition is recognised by its waiters or its signals") {
  const std::string waiter = prefix + "wait-0000000004";
  CHECK(layout_of({}, {waiter}) == Layout::condition);
  CHECK(layout_of({}, {"notes", "sig-" + waiter}) == Layout::condition);
  CHECK(layout_of({}, {"sig-" + prefix + "lock-"}) == Layout::none);
  CHECK(belongs_to(Layout::condition, waiter));
  CHECK(belongs_to(Layout::condition, "sig-" + waiter));
  CHECK_FALSE(belongs_to(Layout::condition, "notes"));
}

TEST_CASE("a double barrier is recognised by members, a ready node, or the names in its data") {
  const std::string member = prefix + other;
  CHECK(layout_of({}, {member}) == Layout::double_barrier);
  CHECK(layout_of({}, {"ready"}) == Layout::double_barrier);
  CHECK(layout_of({}, {"ready", one, kazoos}) == Layout::double_barrier);
  CHECK(layout_of(with("members:\n" + member + "\n"), {}) == Layout::double_barrier);
  // Ids alone may be anything; a folder may have a child of this name.
  CHECK(layout_of({}, {one, kazoos}) == Layout::perhaps_double_barrier);
  CHECK(layout_of({}, {"ready", "printer"}) == Layout::none);
  CHECK(belongs_to(Layout::double_barrier, "ready"));
  CHECK_FALSE(belongs_to(Layout::double_barrier, "printer"));
}

TEST_CASE("a barrier of phases is recognised by arrivals, or by the last names in its data") {
  CHECK(layout_of({}, {prefix + "phase-0"}) == Layout::phases);
  CHECK(layout_of(with(prefix + "phase-11\n"), {}) == Layout::phases);
  CHECK(layout_of(with(prefix + "phase-11"), {}) == Layout::value);
  const std::vector<std::string> children{prefix + "phase-1", "_c_" + other + "-phase-1",
                                          prefix + "phase-11", "phase-1"};
  CHECK(arrivals_among(children, 1) == std::vector{children[0], children[1]});
}

TEST_CASE("a latch is recognised by its number and its tickets together") {
  const GetResult three = with("3");
  const std::vector<std::string> tickets{"0000000000", "0000000001"};
  REQUIRE(layout_of(three, tickets) == Layout::latch);
  CHECK(latch_of(three, tickets).expected == 3);
  CHECK(latch_of(three, tickets).arrivals == 2);
  CHECK(layout_of(three, {}) == Layout::value);
  CHECK(layout_of(with("three"), tickets) == Layout::none);
  CHECK(belongs_to(Layout::latch, "0000000001"));
  CHECK_FALSE(belongs_to(Layout::latch, "notes"));
}

TEST_CASE("a rate limiter is recognised by its entry") {
  const GetResult entry = with("100 -2 1700000000000 7");
  REQUIRE(layout_of(entry, {}) == Layout::rate);
  CHECK(rate_of(entry).cost.count() == 100);
  CHECK(rate_of(entry).credit.count() == -2);
}

TEST_CASE("a value has data and no children but witnesses, and is of no session") {
  CHECK(layout_of(with("x"), {}) == Layout::value);
  CHECK(layout_of({}, {prefix + "witness"}) == Layout::value);
  CHECK(layout_of(with("x"), {"notes", prefix + "witness"}) == Layout::value);
  CHECK(layout_of(with("x"), {"notes"}) == Layout::none);
  CHECK(layout_of({}, {}) == Layout::none);
  GetResult owned = with("x");
  owned.stat.ephemeral_owner = 7;
  CHECK(layout_of(owned, {}) == Layout::none);
}

TEST_CASE("a value of four bytes or eight is a number") {
  CHECK(value_of(with(to_big_endian<std::int64_t>(-5), 3)).number == -5);
  CHECK(value_of(with(to_big_endian<std::int32_t>(-6))).number == -6);
  CHECK(value_of(with(to_big_endian<std::int64_t>(-5), 3)).version == 3);
  CHECK_FALSE(value_of(with("some")).number == std::nullopt);
  CHECK(value_of(with("more")).data == "more");
  CHECK(value_of(with("other")).number == std::nullopt);
}

InspectedDoubleBarrier members(std::vector<std::pair<std::string, std::int64_t>> nodes) {
  InspectedDoubleBarrier barrier;
  for (auto& [name, created_by] : nodes) {
    barrier.members.push_back(
        {.participant = {.node = "/p/" + name, .token = {0, created_by}}, .is_in = false});
  }
  return barrier;
}
std::vector<bool> who_is_in(const InspectedDoubleBarrier& barrier) {
  std::vector<bool> in;
  for (const auto& each : barrier.members) in.push_back(each.is_in);
  return in;
}

TEST_CASE("who is named by the ready node is in; so is another library's, which nothing names") {
  const std::string late = "_c_" + other + "-" + other;
  const std::string named = prefix + one;
  auto barrier = members({{named, 3}, {late, 9}, {kazoos, 10}});
  judge_party(barrier, with("members:\n" + named + "\n"));
  CHECK(barrier.is_ready);
  CHECK_FALSE(barrier.is_stale);
  CHECK(who_is_in(barrier) == std::vector{true, false, true});
}

TEST_CASE("a ready node without names counts those that were there before it") {
  GetResult ready;
  ready.stat.czxid = 7;
  auto barrier = members({{prefix + one, 6}, {"_c_" + other + "-" + other, 8}});
  judge_party(barrier, ready);
  CHECK_FALSE(barrier.is_stale);
  CHECK(who_is_in(barrier) == std::vector{true, false});
}

TEST_CASE("a ready node is stale if none of those that it counts is there") {
  auto barrier = members({{prefix + one, 9}});
  judge_party(barrier, with("members:\n" + prefix + other + "\n"));
  CHECK(barrier.is_stale);
  CHECK(who_is_in(barrier) == std::vector{false});
  InspectedDoubleBarrier nobody;
  judge_party(nobody, {});
  CHECK(nobody.is_stale);
}

}  // namespace
}  // namespace custodian::tests::recipe_reading_test
