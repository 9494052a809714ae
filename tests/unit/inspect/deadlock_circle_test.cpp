// Circles of waits that no thread can end: what counts, and which member fails when.

#include "inspect/deadlock_circle.hpp"

#include "custodian/error.hpp"
#include "custodian/inspect/detect_deadlock.hpp"
#include "support/catch.hpp"
#include "unit/inspect/drawn_locks.hpp"

namespace custodian::tests::deadlock_circle_test {
namespace {

using recipes_detail::DeadlockMemory;
using recipes_detail::find_deadlock;
using recipes_detail::sentence_of;
using recipes_detail::younger_waits;

/// The circle of this session's wait in words; empty if there is none.
std::string circle_of(std::int64_t session, const std::string& queue,
                      const std::vector<ListedLock>& locks) {
  const std::optional<WaitCycle> circle =
      find_deadlock(locks, {.session = session, .queue = queue});
  if (!circle) return {};
  CHECK(circle->sessions == circle->waits.size());
  std::string text;
  for (const CyclicWait& each : circle->waits) {
    text += std::to_string(each.waiter.session) + " waits for " + each.wanted + " of " +
            std::to_string(each.holder.session) + "; ";
  }
  return text;
}

constexpr std::string_view found = "1 waits for /y of 2; 2 waits for /x of 1; ";

TEST_CASE("deadlock: two that each wait for what the other holds are a circle for both") {
  const std::vector locks{locked("/x", {holds(1, 1), waits(2, 4)}),
                          locked("/y", {holds(2, 2), waits(1, 3)})};
  CHECK(circle_of(1, "/y", locks) == found);
  CHECK(circle_of(2, "/x", locks) == "2 waits for /x of 1; 1 waits for /y of 2; ");
}

TEST_CASE("deadlock: a circle of three is found, behind waiters that are in none") {
  const std::vector locks{locked("/x", {holds(1, 1), waits(9, 4), waits(3, 7)}),
                          locked("/y", {holds(2, 2), waits(1, 5)}),
                          locked("/z", {holds(3, 3), waits(2, 6), waits(8, 8)})};
  CHECK(circle_of(1, "/y", locks) ==
        "1 waits for /y of 2; 2 waits for /z of 3; 3 waits for /x of 1; ");
  CHECK(circle_of(9, "/x", locks).empty());
  CHECK(circle_of(8, "/z", locks).empty());
}

TEST_CASE("deadlock: waits without a circle are none") {
  CHECK(circle_of(1, "/y", {}).empty());
  CHECK(circle_of(1, "/y", {locked("/x", {holds(1, 1)}), locked("/y", {holds(2, 2), waits(1, 3)})})
            .empty());
  CHECK(circle_of(1, "/x", {locked("/x", {holds(1, 1), waits(1, 2)})}).empty());
}

TEST_CASE("deadlock: the wait must be that of the acquire that asks") {
  const std::vector locks{locked("/x", {holds(1, 1), waits(2, 4)}),
                          locked("/y", {holds(2, 2), waits(1, 3)})};
  CHECK(circle_of(1, "/other", locks).empty());
  CHECK(circle_of(7, "/y", locks).empty());
}

TEST_CASE("deadlock: a session that waits twice is no single thread, wherever it is") {
  for (const std::int64_t twice : {1, 2}) {
    for (const ListedKind kind :
         {ListedKind::mutex, ListedKind::read_write, ListedKind::semaphore, ListedKind::election}) {
      const std::vector locks{locked("/x", {holds(1, 1), waits(2, 4)}),
                              locked("/y", {holds(2, 2), waits(1, 3)}),
                              locked("/z", {holds(5, 5), waits(twice, 6)}, kind)};
      CHECK(circle_of(1, "/y", locks).empty());
    }
    // Also if a session waits twice for the same lock.
    auto locks = std::vector{locked("/x", {holds(1, 1), waits(2, 4)}),
                             locked("/y", {holds(2, 2), waits(1, 3)})};
    const std::size_t where = twice == 1 ? 1 : 0;
    locks[where].contenders.push_back(locks[where].contenders.back());
    CHECK(circle_of(1, "/y", locks).empty());
  }
}

TEST_CASE("deadlock: a session that holds what is younger than its wait has another thread") {
  for (const std::int64_t busy : {1, 2}) {
    const std::vector locks{locked("/x", {holds(1, 1), waits(2, 4)}),
                            locked("/y", {holds(2, 2), waits(1, 3)}),
                            locked("/z", {holds(busy, 5)})};
    CHECK(circle_of(1, "/y", locks).empty());
  }
  // The claim with which the session waits may be its second claim on the same lock.
  CHECK(circle_of(1, "/y",
                  {locked("/x", {holds(1, 1), waits(2, 4)}),
                   locked("/y", {holds(2, 2), waits(1, 3)}), locked("/z", {holds(2, 0)})}) ==
        found);
}

TEST_CASE("deadlock: a candidate of an election waits as long as it lives, and is in no circle") {
  CHECK(circle_of(1, "/y",
                  {locked("/x", {holds(1, 1), waits(2, 4)}, ListedKind::election),
                   locked("/y", {holds(2, 2), waits(1, 3)})})
            .empty());
}

TEST_CASE("deadlock: a claim that is unclear contradicts a circle") {
  for (const std::int64_t unclear : {1, 2}) {
    const std::vector locks{
        locked("/x", {holds(1, 1), waits(2, 4)}), locked("/y", {holds(2, 2), waits(1, 3)}),
        locked("/z", {{.session = unclear, .token = 0, .standing = Standing::unclear}})};
    CHECK(circle_of(1, "/y", locks).empty());
  }
}

TEST_CASE("deadlock: a queue that a malformed number stops is in no circle") {
  auto stopped = locked("/x", {holds(1, 1), waits(2, 4)});
  stopped.malformed = {"/x/lock-"};
  CHECK(circle_of(1, "/y", {stopped, locked("/y", {holds(2, 2), waits(1, 3)})}).empty());
}

TEST_CASE("deadlock: nodes without a session are nobody's") {
  CHECK(circle_of(
            1, "/y",
            {locked("/x", {holds(1, 1), waits(0, 4)}), locked("/y", {holds(0, 2), waits(1, 3)})})
            .empty());
  CHECK(circle_of(
            0, "/y",
            {locked("/x", {holds(0, 1), waits(2, 4)}), locked("/y", {holds(2, 2), waits(0, 3)})})
            .empty());
}

constexpr auto read_write = ListedKind::read_write;

TEST_CASE("deadlock: a writer waits for each of the readers, and a reader for writers only") {
  const ListedLock readers =
      locked("/y", {holds(3, 2, Claim::read), holds(2, 3, Claim::read), waits(1, 4, Claim::write)},
             read_write);
  CHECK(circle_of(1, "/y", {locked("/x", {holds(1, 1), waits(2, 5)}), readers}) == found);
  // A reader behind a writer that waits: the writer may give up.
  const ListedLock behind =
      locked("/y", {holds(2, 2, Claim::read), waits(3, 3, Claim::write), waits(1, 4, Claim::read)},
             read_write);
  CHECK(circle_of(1, "/y", {locked("/x", {holds(1, 1), waits(2, 5)}), behind}).empty());
  const ListedLock written =
      locked("/y", {holds(2, 2, Claim::write), waits(1, 3, Claim::read)}, read_write);
  CHECK(circle_of(1, "/y", {locked("/x", {holds(1, 1), waits(2, 5)}), written}) == found);
}

constexpr auto semaphore = ListedKind::semaphore;

TEST_CASE("deadlock: a wait for permits counts if one session holds all of the others") {
  const ListedLock other = locked("/x", {holds(1, 1), waits(2, 9)});
  const auto circle = [&](const std::vector<Claimant>& claimants) {
    return circle_of(1, "/y/locks", {other, locked("/y", claimants, semaphore)});
  };
  const auto turn = [](std::int64_t session, std::int64_t token, std::size_t ahead = 0) {
    return Claimant{session, token, Standing::waits, Claim::turn, ahead};
  };
  // The queue of the turns is a child of the semaphore's node.
  const auto under_locks = [&](const std::vector<Claimant>& claimants) {
    ListedLock made = locked("/y", claimants, semaphore);
    for (Inspected& each : made.contenders) {
      if (each.claim == Claim::turn) each.participant.node = "/y/locks/lock";
    }
    return circle_of(1, "/y/locks", {other, made});
  };
  CHECK(circle({holds(2, 2, Claim::permit), puts_down(1, 6), turn(1, 5)}).empty());
  CHECK(under_locks({holds(2, 2, Claim::permit), puts_down(1, 6), turn(1, 5)}) == found);
  CHECK(under_locks({holds(2, 2, Claim::permit), holds(2, 3, Claim::permit), puts_down(1, 6),
                     turn(1, 5)}) == found);
  // Another holder may return its permit.
  CHECK(under_locks(
            {holds(2, 2, Claim::permit), holds(3, 3, Claim::permit), puts_down(1, 6), turn(1, 5)})
            .empty());
  // The maximum may be raised: a contender that has put down no permit waits for that.
  CHECK(under_locks({holds(2, 2, Claim::permit), turn(1, 5)}).empty());
  CHECK(under_locks({holds(2, 2, Claim::permit), puts_down(1, 3), turn(1, 5)}).empty());
  // The contender in front may give up, or return its permits. A waiter behind it may have put down
  // its permits, too, if the first node was deleted by hand.
  CHECK(under_locks({holds(2, 2, Claim::permit), puts_down(1, 6), turn(3, 4), turn(1, 5, 1)})
            .empty());
  CHECK(under_locks({holds(2, 2, Claim::permit), puts_down(3, 6), turn(3, 4), turn(1, 5, 1)})
            .empty());
  CHECK(under_locks({puts_down(1, 6), turn(1, 5)}).empty());
}

// -- Which member fails, and when -----------------------------------------------------------------

WaitCycle circle_of_two(std::int64_t first, std::int64_t second) {
  return {.waits = {{.wanted = "/y",
                     .waiter = {.node = "/y/w", .token = {0, first}},
                     .holder = {.node = "/y/h", .token = {0, 1}}},
                    {.wanted = "/x",
                     .waiter = {.node = "/x/w", .token = {0, second}},
                     .holder = {.node = "/x/h", .token = {0, 2}}}},
          .sessions = 2};
}

/// The number of the look at which an acquire fails that sees the same circle at each look.
int fails_at(const WaitCycle& circle) {
  DeadlockMemory memory;
  for (int look = 1; look < 20; ++look) {
    if (memory.on_look(circle)) return look;
  }
  return 0;
}

TEST_CASE(
    "deadlock: the youngest waiter fails at its second look, each other one two looks later") {
  CHECK(younger_waits(circle_of_two(8, 7)) == 0);
  CHECK(younger_waits(circle_of_two(7, 8)) == 1);
  CHECK(fails_at(circle_of_two(8, 7)) == 2);
  CHECK(fails_at(circle_of_two(7, 8)) == 4);
  WaitCycle three = circle_of_two(7, 8);
  three.waits.push_back(three.waits.back());
  CHECK(fails_at(three) == 6);
}

TEST_CASE("deadlock: looks that show something else in between do not count") {
  const WaitCycle circle = circle_of_two(8, 7);
  const auto fails_after = [&](const auto& between) {
    DeadlockMemory memory;
    REQUIRE_FALSE(memory.on_look(circle));
    between(memory);
    return memory.on_look(circle);
  };
  CHECK(fails_after([](DeadlockMemory&) {}));
  CHECK_FALSE(fails_after([](DeadlockMemory& memory) { memory.forget(); }));
  CHECK_FALSE(fails_after([](DeadlockMemory& memory) { CHECK_FALSE(memory.on_look({})); }));
  // The same sessions, but with other nodes: one session has released, and waits again.
  WaitCycle other = circle;
  other.waits[1].waiter.token.value = 6;
  CHECK_FALSE(fails_after([&](DeadlockMemory& memory) { CHECK_FALSE(memory.on_look(other)); }));
  other = circle;
  other.waits[0].holder.node = "/y/another";
  CHECK_FALSE(fails_after([&](DeadlockMemory& memory) { CHECK_FALSE(memory.on_look(other)); }));
}

TEST_CASE("deadlock: nothing to see is never a reason to fail") {
  DeadlockMemory memory;
  for (int look = 0; look < 5; ++look) CHECK_FALSE(memory.on_look({}));
}

TEST_CASE("deadlock: the sentence names each process, what it holds and what it waits for") {
  const std::vector locks{locked("/x", {holds(26, 1), waits(2, 4)}),
                          locked("/y", {holds(2, 2), waits(26, 3)})};
  const auto circle = find_deadlock(locks, {.session = 26, .queue = "/y"});
  REQUIRE(circle);
  CHECK(sentence_of(*circle) ==
        "2 processes wait for each other: p26 (session 0x1a) holds /x since 1970-01-01T00:00:00Z "
        "and waits for /y since 1970-01-01T00:00:00Z; p2 (session 0x2) holds /y since "
        "1970-01-01T00:00:00Z and waits for /x since 1970-01-01T00:00:00Z");
}

TEST_CASE("deadlock: options that cannot work are refused") {
  using Options = DeadlockOptions;
  CHECK_NOTHROW(detect_deadlock());
  CHECK_NOTHROW(detect_deadlock({.below = "/a/b"}));
  for (const char* below : {"", "a", "/a/"}) {
    CHECK_THROWS_AS(detect_deadlock(Options{.below = below}), Error);
  }
  CHECK_THROWS_AS(detect_deadlock(Options{.max_nodes = 0}), Error);
  CHECK_THROWS_AS(detect_deadlock(Options{.look_every = std::chrono::seconds{0}}), Error);
}

}  // namespace
}  // namespace custodian::tests::deadlock_circle_test
