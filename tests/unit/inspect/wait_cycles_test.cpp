// Waits that cannot end, on drawn graphs.

#include "custodian/inspect/wait_cycles.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "support/catch.hpp"

namespace custodian::tests::wait_cycles_test {
namespace {

using Sessions = std::vector<std::int64_t>;

/// A lock that the first sessions hold, and for which the others wait.
ListedLock lock(const std::string& path, const Sessions& holders, const Sessions& waiters,
                ListedKind kind = ListedKind::mutex) {
  ListedLock made{.path = path, .kind = kind};
  const auto add = [&](std::int64_t session, Standing standing) {
    made.contenders.push_back(
        {.participant = {.node = path + "/" + std::to_string(session), .session = session},
         .standing = standing});
  };
  for (const std::int64_t each : holders) add(each, Standing::holds);
  for (const std::int64_t each : waiters) add(each, Standing::waits);
  return made;
}

/// A circle in words: each session, and the lock that it waits for.
std::string text_of(const WaitCycle& cycle) {
  std::string text;
  for (const CyclicWait& each : cycle.waits) {
    text += std::to_string(each.waiter.session) + " waits for " + each.wanted + " of " +
            std::to_string(each.holder.session) + "; ";
  }
  return text + std::to_string(cycle.sessions) + " in all";
}

std::vector<std::string> texts_of(const std::vector<ListedLock>& locks) {
  std::vector<std::string> texts;
  for (const WaitCycle& each : find_wait_cycles(locks)) texts.push_back(text_of(each));
  return texts;
}

using Texts = std::vector<std::string>;

TEST_CASE("wait cycles: queues without a circle have none") {
  CHECK(find_wait_cycles({}).empty());
  CHECK(find_wait_cycles({lock("/x", {1}, {2, 3}), lock("/y", {2}, {3})}).empty());
  CHECK(find_wait_cycles({lock("/x", {}, {1, 2})}).empty());
}

TEST_CASE("wait cycles: two that each wait for what the other holds are a circle") {
  CHECK(texts_of({lock("/x", {2}, {1}), lock("/y", {1}, {2})}) ==
        Texts{"1 waits for /x of 2; 2 waits for /y of 1; 2 in all"});
}

TEST_CASE("wait cycles: each wait names the contenders at the lock that is waited for") {
  const auto cycles = find_wait_cycles({lock("/x", {2}, {1}), lock("/y", {1}, {2})});
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].waits[0].waiter.node == "/x/1");
  CHECK(cycles[0].waits[0].holder.node == "/x/2");
  CHECK(cycles[0].waits[1].waiter.node == "/y/2");
  CHECK(cycles[0].waits[1].holder.node == "/y/1");
}

TEST_CASE("wait cycles: who waits for a circle, and who is waited for by it, is not in it") {
  CHECK(texts_of({lock("/x", {2}, {3}), lock("/y", {3}, {4}), lock("/z", {4}, {2, 9}),
                  lock("/free", {7}, {})}) ==
        Texts{"2 waits for /z of 4; 4 waits for /y of 3; 3 waits for /x of 2; 3 in all"});
}

TEST_CASE("wait cycles: of a group the shortest circle through its first session is returned") {
  // 1 -> 2 -> 3 -> 1, and 1 -> 3.
  CHECK(texts_of({lock("/a", {2}, {1}), lock("/b", {3}, {1, 2}), lock("/c", {1}, {3})}) ==
        Texts{"1 waits for /b of 3; 3 waits for /c of 1; 3 in all"});
}

TEST_CASE("wait cycles: two groups come in the order of their sessions") {
  CHECK(texts_of({lock("/a", {8}, {9}), lock("/b", {9}, {8}), lock("/c", {1}, {5}),
                  lock("/d", {5}, {1})}) ==
        Texts{"1 waits for /d of 5; 5 waits for /c of 1; 2 in all",
              "8 waits for /b of 9; 9 waits for /a of 8; 2 in all"});
}

TEST_CASE("wait cycles: threads of one session that take turns are none") {
  CHECK(find_wait_cycles({lock("/x", {1}, {1})}).empty());
  // 3 takes turns with itself at /z, and will then return its permit, which 1 waits for.
  CHECK(find_wait_cycles({lock("/x", {2, 3}, {1}, ListedKind::semaphore), lock("/y", {1}, {2}),
                          lock("/z", {3}, {3})})
            .empty());
  // But if another session holds a read lock, too, its part counts.
  CHECK(texts_of({lock("/x", {1, 2}, {1}, ListedKind::read_write), lock("/y", {1}, {2})}) ==
        Texts{"1 waits for /x of 2; 2 waits for /y of 1; 2 in all"});
}

TEST_CASE("wait cycles: a wait for a writer's lock needs all readers to proceed") {
  const auto readers = lock("/x", {2, 3}, {1}, ListedKind::read_write);
  CHECK(texts_of({readers, lock("/y", {1}, {3})}) ==
        Texts{"1 waits for /x of 3; 3 waits for /y of 1; 2 in all"});
}

TEST_CASE("wait cycles: a wait for a permit ends if one holder can proceed") {
  const auto permits = lock("/x", {2, 3}, {1}, ListedKind::semaphore);
  CHECK(find_wait_cycles({permits, lock("/y", {1}, {3})}).empty());
  CHECK(texts_of({permits, lock("/y", {1}, {2, 3})}) ==
        Texts{"1 waits for /x of 2; 2 waits for /y of 1; 3 in all"});
}

TEST_CASE("wait cycles: members of an election wait as long as they live, which is none") {
  CHECK(
      find_wait_cycles({lock("/x", {2}, {1}, ListedKind::election), lock("/y", {1}, {2})}).empty());
}

TEST_CASE("wait cycles: a contender whose standing is unclear neither holds nor waits") {
  auto unclear = lock("/x", {2}, {1});
  unclear.contenders[0].standing = Standing::unclear;
  CHECK(find_wait_cycles({unclear, lock("/y", {1}, {2})}).empty());
}

TEST_CASE("wait cycles: a session that holds twice, and waits twice, counts once") {
  CHECK(texts_of({lock("/x", {2, 2}, {1, 1}, ListedKind::semaphore), lock("/y", {1}, {2})}) ==
        Texts{"1 waits for /x of 2; 2 waits for /y of 1; 2 in all"});
}

// The expected result of the search, by brute force: a session is stuck if no order of releases
// lets it proceed; it is in a circle if waits for stuck holders lead from it back to itself.
std::set<std::int64_t> in_circles_of(const std::vector<ListedLock>& locks) {
  std::set<std::int64_t> stuck;
  for (const ListedLock& each : locks) {
    for (const Inspected& contender : each.contenders) {
      stuck.insert(contender.participant.session);
    }
  }
  const auto waits_on = [&](const ListedLock& at, std::int64_t session) {
    Sessions holders;
    bool waits = false;
    for (const Inspected& each : at.contenders) {
      const std::int64_t other = each.participant.session;
      if (each.standing == Standing::holds && other != session) holders.push_back(other);
      if (each.standing == Standing::waits && other == session) waits = true;
    }
    const auto is_stuck = [&](std::int64_t other) { return stuck.contains(other); };
    const bool for_ever = at.kind == ListedKind::semaphore
                              ? !holders.empty() && std::ranges::all_of(holders, is_stuck)
                              : std::ranges::any_of(holders, is_stuck);
    if (!waits || !for_ever) return Sessions{};
    std::erase_if(holders, [&](std::int64_t other) { return !is_stuck(other); });
    return holders;
  };
  const auto next_of = [&](std::int64_t session) {
    Sessions next;
    for (const ListedLock& each : locks) {
      const Sessions more = waits_on(each, session);
      next.insert(next.end(), more.begin(), more.end());
    }
    return next;
  };
  while (std::erase_if(stuck, [&](std::int64_t session) { return next_of(session).empty(); }) > 0) {
  }
  std::set<std::int64_t> circles;
  for (const std::int64_t session : stuck) {
    std::set<std::int64_t> reached;
    Sessions open = next_of(session);
    while (!open.empty()) {
      const std::int64_t each = open.back();
      open.pop_back();
      if (!reached.insert(each).second) continue;
      const Sessions more = next_of(each);
      open.insert(open.end(), more.begin(), more.end());
    }
    if (reached.contains(session)) circles.insert(session);
  }
  return circles;
}

TEST_CASE("wait cycles: random queues have the circles that brute force finds") {
  std::mt19937 random{22};
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>{0, end - 1}(random);
  };
  int with_circles = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<ListedLock> locks;
    const int count = 1 + below(5);
    for (int i = 0; i < count; ++i) {
      const bool semaphore = below(3) == 0;
      Sessions holders;
      Sessions waiters;
      for (int each = semaphore ? 1 + below(3) : 1; each > 0; --each) holders.push_back(below(6));
      for (int each = below(3); each > 0; --each) waiters.push_back(below(6));
      locks.push_back(lock("/" + std::to_string(i), holders, waiters,
                           semaphore ? ListedKind::semaphore : ListedKind::mutex));
    }
    const std::set<std::int64_t> expected = in_circles_of(locks);
    std::size_t found = 0;
    for (const WaitCycle& cycle : find_wait_cycles(locks)) {
      found += cycle.sessions;
      REQUIRE(cycle.waits.size() >= 2);
      REQUIRE(cycle.waits.size() <= cycle.sessions);
      for (std::size_t i = 0; i != cycle.waits.size(); ++i) {
        const CyclicWait& next = cycle.waits[(i + 1) % cycle.waits.size()];
        REQUIRE(expected.contains(cycle.waits[i].waiter.session));
        REQUIRE(cycle.waits[i].holder.session == next.waiter.session);
      }
    }
    REQUIRE(found == expected.size());
    if (found > 0) ++with_circles;
  }
  CHECK(with_circles > 200);
}

}  // namespace
}  // namespace custodian::tests::wait_cycles_test
