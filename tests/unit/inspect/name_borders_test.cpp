// Names that are nearly those of a recipe, and claims that nearly make a circle.

#include "inspect/deadlock_circle.hpp"
#include "inspect/lock_search.hpp"
#include "inspect/recipe_reading.hpp"
#include "support/catch.hpp"
#include "unit/inspect/drawn_locks.hpp"

namespace custodian::tests::name_borders_test {
namespace {

using namespace recipes_detail;

using Names = std::vector<std::string>;

// -- Recipes --------------------------------------------------------------------------------------

const std::string id = "01234567-89ab-cdef-0123-456789abcdef";
const std::string prefix = "_c_" + id + "-";

Layout layout_among(const Names& children) { return layout_of({}, children); }

TEST_CASE(
    "recipe reading: an id has the digits of hexadecimal numbers, and hyphens if it is long") {
  CHECK(layout_among({id}) == Layout::perhaps_double_barrier);
  const std::string short_id(32, '9');
  CHECK(layout_among({short_id}) == Layout::perhaps_double_barrier);
  CHECK(layout_among({std::string(32, 'f')}) == Layout::perhaps_double_barrier);
  CHECK(layout_among({std::string(31, '9')}) == Layout::none);
  for (const char other : {'g', 'z', 'A', '/', ':', '_', '`', '.'}) {
    INFO(other);
    std::string name = id;
    name[7] = other;
    CHECK(layout_among({name}) == Layout::none);
    name = short_id;
    name[7] = other;
    CHECK(layout_among({name}) == Layout::none);
  }
  std::string hyphened = short_id;
  hyphened[7] = '-';
  CHECK(layout_among({hyphened}) == Layout::none);
}

TEST_CASE("recipe reading: an arrival's name has its prefix, an id and a number") {
  CHECK(layout_among({prefix + "phase-9"}) == Layout::phases);
  CHECK(layout_among({prefix + "phase-109"}) == Layout::phases);
  for (const std::string& other :
       Names{prefix + "phase-", prefix + "phase-x", prefix + "phase-1x",
             prefix + "phase-:", prefix + "phase-/", prefix + "phrase1", prefix + "phrase-1",
             prefix + "12345678", "_d_" + id + "-phase-1", "___" + id + "-phase-1",
             "_c_" + std::string(36, 'x') + "-phase-1",
             "a folder with a name that is quite long: phase-1", "phase-1"}) {
    INFO(other);
    CHECK(layout_among({other}) == Layout::none);
    CHECK_FALSE(belongs_to(Layout::phases, other));
  }
}

// -- Locks ----------------------------------------------------------------------------------------

std::set<std::string> locks_in(const std::string& root,
                               const std::map<std::string, Names>& children) {
  LockSearch search{root};
  while (const auto path = search.next()) {
    const auto at = children.find(*path);
    search.add(*path, at == children.end() ? Names{} : at->second);
  }
  return search.locks();
}

using Paths = std::set<std::string>;

TEST_CASE("lock search: a name whose last ten characters are no number is a folder's") {
  for (const std::string folder :
       {"lock-7", "lock-00007", "my-lock-00007", "my-lock-0007", "1-lock-000007", "a-lock-store",
        "lock-abcdefghij", "my__lock__7"}) {
    INFO(folder);
    CHECK(locks_in("/x", {{"/x", {folder}}, {"/x/" + folder, {"lock-0000000001"}}}) ==
          Paths{"/x/" + folder});
  }
  CHECK(locks_in("/x", {{"/x", {"lock--000000001"}}}) == Paths{"/x"});
  // No counter of the servers reaches this number.
  CHECK(locks_in("/x", {{"/x", {"lock-9999999999"}}}).empty());
}

TEST_CASE("lock search: a mutex in a folder called leases is no semaphore") {
  CHECK(locks_in("/s", {{"/s", {"leases"}}, {"/s/leases", {"lock-0000000001"}}}) ==
        Paths{"/s/leases"});
  CHECK(locks_in("/s", {{"/s", {"leases"}}, {"/s/leases", {"lease-0000000001"}}}) == Paths{"/s"});
  CHECK(locks_in("/s", {{"/s", {"lease-0000000001"}}}) == Paths{"/s"});
}

TEST_CASE("lock search: a third child of a semaphore is a lock by itself") {
  CHECK(locks_in("/s", {{"/s", {"leases", "locks", "other"}}, {"/s/other", {"lock-0000000001"}}}) ==
        Paths{"/s/other"});
}

TEST_CASE("lock search: the locks at a path are listed with its malformed names") {
  Inspection inspection;
  inspection.malformed = {"/x/lock-x"};
  const auto alone = locks_at("/x", inspection);
  REQUIRE(alone.size() == 1);
  CHECK(alone.front().malformed == inspection.malformed);
  inspection.contenders.push_back({.participant = {}, .claim = Claim::mutex});
  const auto beside = locks_at("/x", inspection);
  REQUIRE(beside.size() == 1);
  CHECK(beside.front().malformed == inspection.malformed);
  CHECK(beside.front().contenders.size() == 1);
}

// -- Circles --------------------------------------------------------------------------------------

bool is_circle(const std::vector<ListedLock>& locks, const std::string& queue) {
  return find_deadlock(locks, {.session = 1, .queue = queue}).has_value();
}

TEST_CASE("deadlock: a hold that one transaction has created with the wait does not precede it") {
  const auto with_holds = [](std::int64_t token) {
    return std::vector{locked("/x", {holds(1, token), waits(2, 4)}),
                       locked("/y", {holds(2, 2), waits(1, 3)})};
  };
  CHECK(is_circle(with_holds(2), "/y"));
  CHECK_FALSE(is_circle(with_holds(3), "/y"));
}

TEST_CASE("deadlock: a waiter for permits has put down its own, behind its place in the line") {
  const auto is_found = [](const std::vector<Claimant>& claimants) {
    ListedLock permits = locked("/y", claimants, ListedKind::semaphore);
    permits.contenders.push_back(
        {.participant = {.node = "/y/locks/lock", .identity = "p1", .session = 1, .token = {0, 5}},
         .claim = Claim::turn,
         .standing = Standing::waits});
    return is_circle({locked("/x", {holds(1, 1), waits(2, 9)}), permits}, "/y/locks");
  };
  CHECK(is_found({holds(2, 2, Claim::permit), puts_down(1, 6)}));
  CHECK_FALSE(is_found({holds(2, 2, Claim::permit), puts_down(1, 5)}));
  CHECK_FALSE(is_found({holds(2, 2, Claim::permit), puts_down(3, 6)}));
  CHECK_FALSE(is_found({holds(2, 7, Claim::permit)}));
  CHECK_FALSE(is_found({holds(2, 2, Claim::permit), puts_down(3, 4)}));
}

}  // namespace
}  // namespace custodian::tests::name_borders_test
