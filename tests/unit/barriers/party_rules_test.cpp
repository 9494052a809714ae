#include "barriers/party_rules.hpp"

#include <optional>
#include <variant>

#include "support/catch.hpp"

namespace custodian::tests::party_rules_test {
namespace {

using namespace recipes_detail;
using Names = std::vector<std::string>;

const std::string one_id = "_c_11111111-1111-4111-8111-111111111111-";
const std::string another_id = "_c_22222222-2222-4222-8222-222222222222-";

GetResult ready_of(std::string data, std::int64_t created_by) {
  return {.data = std::move(data), .stat = {.czxid = created_by}};
}

TEST_CASE("members are all children but the ready node, in the order of their names") {
  CHECK(members_of({"b", "ready", "_c_x-member", "a"}) == Names{"_c_x-member", "a", "b"});
  CHECK(members_of({"ready"}).empty());
}

TEST_CASE("a member is counted once, though a node is left that it has given up") {
  CHECK(count_members({}) == 0);
  CHECK(count_members({one_id + "a", another_id + "b"}) == 2);
  CHECK(count_members({one_id + "a", another_id + "a"}) == 1);
  // Names of kazoo and of Curator, and strange names.
  CHECK(count_members({"5e0f", "5e1f", "_c_", "_c_short", one_id}) == 5);
}

TEST_CASE("a ready node counts the members that it names, and no others") {
  const GetResult ready = ready_of(ready_data({"a", "b"}), 9);
  CHECK(counted_by(ready, "a", 5) == Counted::yes);
  CHECK(counted_by(ready, "b", 5) == Counted::yes);
  CHECK(counted_by(ready, "c", 5) == Counted::no);
  CHECK(counted_by(ready, "", 5) == Counted::no);
  CHECK(counted_by(ready_of(ready_data({"ab"}), 9), "a", 5) == Counted::no);
}

TEST_CASE("a ready node names those, too, who have joined") {
  const GetResult ready = ready_of(joined(ready_data({"a"}), "b", {"a", "b"}), 9);
  CHECK(counted_by(ready, "a", 5) == Counted::yes);
  CHECK(counted_by(ready, "b", 12) == Counted::yes);
  CHECK(joined("10.0.0.1", "b", {"b"}) == "10.0.0.1");
}

TEST_CASE("a ready node does not grow by those that have left") {
  std::string ready = ready_data({"0"});
  for (int i = 1; i <= 10'000; ++i) {
    const std::string before = std::to_string(i - 1);
    const std::string own = std::to_string(i);
    ready = joined(std::move(ready), own, members_of({before, own}));
    CHECK(ready == ready_data({before, own}));
  }
}

GetResult barrier_of(std::string data, std::int64_t created_by, std::int32_t version,
                     std::int64_t written_by) {
  return {.data = std::move(data),
          .stat = {.czxid = created_by, .mzxid = written_by, .version = version}};
}

TEST_CASE("a member whose node is gone is counted if the barrier names it, or may have named it") {
  const Standing standing{.barrier = 3, .version = 7};
  const std::string others = ready_data({"x", "y"});
  // Nobody has come in since, or one party or member.
  CHECK(counted_since(standing, barrier_of(others, 3, 7, 9), "a", 10) == Counted::no);
  CHECK(counted_since(standing, barrier_of(others, 3, 8, 12), "a", 10) == Counted::no);
  CHECK(counted_since(standing, barrier_of(ready_data({"a", "x"}), 3, 8, 12), "a", 10) ==
        Counted::yes);
  CHECK(counted_since(standing, barrier_of(ready_data({"a", "x"}), 3, 9, 13), "a", 10) ==
        Counted::yes);
  // The second one has written over the first one.
  CHECK(counted_since(standing, barrier_of(others, 3, 9, 13), "a", 10) == Counted::perhaps);
  // The servers have removed a container that was empty.
  CHECK(counted_since(standing, std::nullopt, "a", 10) == Counted::perhaps);
  CHECK(counted_since(standing, barrier_of({}, 15, 0, 15), "a", 10) == Counted::perhaps);
  CHECK(counted_since(standing, barrier_of(others, 15, 8, 17), "a", 10) == Counted::perhaps);
}

TEST_CASE("a member that was never listed is not counted by what was written before it came") {
  CHECK(counted_since({}, barrier_of({}, 3, 0, 3), "a", 10) == Counted::no);
  CHECK(counted_since({}, barrier_of(ready_data({"x"}), 3, 1, 9), "a", 10) == Counted::no);
  CHECK(counted_since({}, barrier_of(ready_data({"x"}), 3, 1, 12), "a", 10) == Counted::perhaps);
  CHECK(counted_since({}, barrier_of(ready_data({"a"}), 3, 1, 12), "a", 10) == Counted::yes);
}

TEST_CASE("a ready node of another library counts, perhaps, who was there before it") {
  CHECK(counted_by(ready_of("10.0.0.1", 9), "a", 5) == Counted::perhaps);
  CHECK(counted_by(ready_of("", 9), "a", 5) == Counted::perhaps);
  CHECK(counted_by(ready_of("10.0.0.1", 9), "a", 12) == Counted::no);
}

TEST_CASE("a party is over when nobody is left that its ready node names") {
  const std::string ready = ready_data({"a", "b"});
  CHECK(state_of(ready, {"b", "c"}) == PartyState::under_way);
  CHECK(state_of(ready, {"c"}) == PartyState::over);
  CHECK(state_of(ready, {}) == PartyState::over);
  CHECK(state_of("10.0.0.1", {"a"}) == PartyState::unknown);
}

TEST_CASE("those are in a party that its ready node names, and members of another library") {
  const std::string a = one_id + "a";
  const std::string b = another_id + "b";
  CHECK(in_party(ready_data({a}), {a, b}) == Names{a});
  CHECK(in_party(joined(ready_data({a}), b, {a, b}), {a, b}) == Names{a, b});
  CHECK(in_party(ready_data({a}), {"5e0f", a, b}) == Names{"5e0f", a});
  CHECK(in_party("10.0.0.1", {"5e0f", a, b}) == Names{"5e0f", a, b});
}

TEST_CASE("the first member is known that a ready node counts") {
  CHECK(first_counted(ready_data({"b", "c"}), {"a", "b", "c"}) == "b");
  CHECK(first_counted(ready_data({"b", "c"}), {"a", "d"}).empty());
  CHECK(first_counted("10.0.0.1", {"a"}).empty());
}

TEST_CASE("a party is completed by a check of each member, and a write that others notice") {
  const Transaction transaction = completing("/p", {"a", "b"});
  REQUIRE(transaction.size() == 4);
  CHECK(std::get<transaction::Check>(transaction[0]).path == "/p/a");
  CHECK(std::get<transaction::Check>(transaction[1]).path == "/p/b");
  const auto& written = std::get<transaction::Set>(transaction[2]);
  CHECK(written.path == "/p");
  CHECK(written.data == ready_data({"a", "b"}));
  CHECK(written.version == any_version);
  const auto& created = std::get<transaction::Create>(transaction[3]);
  CHECK(created.path == "/p/ready");
  CHECK(created.data == ready_data({"a", "b"}));
  CHECK(created.mode == CreateMode::persistent);
}

TEST_CASE("the lowest member waits for the highest, the others leave and wait for the lowest") {
  const Names three{"a", "b", "c"};
  const Leaving lowest = next_of_leaving(three, "a");
  CHECK((!lowest.is_over && !lowest.is_last && !lowest.removes_own_node));
  CHECK(lowest.waits_for == "c");
  for (const char* other : {"b", "c"}) {
    const Leaving next = next_of_leaving(three, other);
    CHECK((!next.is_over && !next.is_last && next.removes_own_node));
    CHECK(next.waits_for == "a");
  }
}

TEST_CASE("who has left waits for the lowest, and is done when nobody is left") {
  const Leaving waits = next_of_leaving({"a", "b"}, "c");
  CHECK((!waits.is_over && !waits.is_last && !waits.removes_own_node));
  CHECK(waits.waits_for == "a");
  CHECK(next_of_leaving({}, "c").is_over);
}

TEST_CASE("the last member takes the ready node along") {
  const Leaving last = next_of_leaving({"a"}, "a");
  CHECK((last.is_last && !last.is_over && last.waits_for.empty()));
}

}  // namespace
}  // namespace custodian::tests::party_rules_test
