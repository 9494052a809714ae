// Circles of waits in randomly drawn systems, compared with the knowledge of their threads and with
// a brute-force search.

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>

#include "custodian/authoring/path.hpp"
#include "inspect/deadlock_circle.hpp"
#include "support/catch.hpp"
#include "unit/inspect/drawn_locks.hpp"

namespace custodian::tests::deadlock_property_test {
namespace {

using recipes_detail::find_deadlock;

/// Processes whose threads lock and unlock at random. Each thread knows the lock that it waits for,
/// so the true circles are known.
class System {
 public:
  System(std::uint32_t seed, int threads_each) : random_{seed}, threads_each_{threads_each} {
    for (int i = 0; i < processes * threads_each; ++i) threads_.push_back({});
  }

  void step() {
    const int chosen = below(static_cast<int>(threads_.size()));
    Thread& thread = threads_[static_cast<std::size_t>(chosen)];
    if (thread.wants) return;
    std::vector<int> held = locks_of(chosen);
    if (!held.empty() && below(3) == 0)
      return release(held[static_cast<std::size_t>(below(static_cast<int>(held.size())))]);
    const int wanted = below(locks);
    if (std::ranges::find(held, wanted) != held.end()) return;
    queues_[static_cast<std::size_t>(wanted)].push_back({chosen, ++token_});
    if (queues_[static_cast<std::size_t>(wanted)].front().thread != chosen) thread.wants = wanted;
  }

  [[nodiscard]] std::vector<ListedLock> listing() const {
    std::vector<ListedLock> listed;
    for (int i = 0; i < locks; ++i) {
      std::vector<Claimant> claimants;
      for (const Place& each : queues_[static_cast<std::size_t>(i)]) {
        claimants.push_back(claimants.empty() ? holds(process_of(each.thread), each.token)
                                              : waits(process_of(each.thread), each.token));
      }
      if (!claimants.empty()) listed.push_back(locked("/" + std::to_string(i), claimants));
    }
    return listed;
  }

  /// Whether this thread waits for itself, by way of others.
  [[nodiscard]] bool is_in_a_circle(int thread) const {
    std::set<int> seen;
    for (std::optional<int> at = in_front_of(thread); at; at = in_front_of(*at)) {
      if (*at == thread) return true;
      if (!seen.insert(*at).second) return false;
    }
    return false;
  }
  [[nodiscard]] std::optional<int> wanted_by(int thread) const {
    return threads_[static_cast<std::size_t>(thread)].wants;
  }
  [[nodiscard]] int waits_of(std::int64_t process) const {
    int count = 0;
    for (int i = 0; i < static_cast<int>(threads_.size()); ++i) {
      if (process_of(i) == process && wanted_by(i)) ++count;
    }
    return count;
  }
  [[nodiscard]] std::int64_t process_of(int thread) const { return 1 + thread / threads_each_; }
  [[nodiscard]] int thread_count() const { return static_cast<int>(threads_.size()); }

 private:
  static constexpr int processes = 4;
  static constexpr int locks = 5;
  struct Thread {
    std::optional<int> wants{};
  };
  struct Place {
    int thread = 0;
    std::int64_t token = 0;
  };

  int below(int end) { return std::uniform_int_distribution<int>{0, end - 1}(random_); }
  [[nodiscard]] std::vector<int> locks_of(int thread) const {
    std::vector<int> held;
    for (int i = 0; i < locks; ++i) {
      const auto& queue = queues_[static_cast<std::size_t>(i)];
      if (!queue.empty() && queue.front().thread == thread) held.push_back(i);
    }
    return held;
  }
  void release(int which) {
    auto& queue = queues_[static_cast<std::size_t>(which)];
    queue.erase(queue.begin());
    if (!queue.empty()) threads_[static_cast<std::size_t>(queue.front().thread)].wants.reset();
  }
  /// The thread that holds the lock for which this thread waits.
  [[nodiscard]] std::optional<int> in_front_of(int thread) const {
    const auto wanted = wanted_by(thread);
    if (!wanted) return std::nullopt;
    return queues_[static_cast<std::size_t>(*wanted)].front().thread;
  }

  std::mt19937 random_;
  const int threads_each_;
  std::vector<Thread> threads_;
  std::vector<Place> queues_[locks];
  std::int64_t token_ = 0;
};

TEST_CASE("deadlock: of single threads those are found that wait for themselves, and no others") {
  int circles = 0;
  int others = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    System system{seed, 1};
    for (int step = 0; step < 60; ++step) {
      system.step();
      const auto listing = system.listing();
      for (int thread = 0; thread < system.thread_count(); ++thread) {
        const auto wanted = system.wanted_by(thread);
        if (!wanted) continue;
        const auto circle =
            find_deadlock(listing, {system.process_of(thread), "/" + std::to_string(*wanted)});
        REQUIRE(circle.has_value() == system.is_in_a_circle(thread));
        circle ? ++circles : ++others;
      }
    }
  }
  CHECK(circles > 1000);
  CHECK(others > 1000);
}

TEST_CASE("deadlock: of processes with several threads none is found that waits twice") {
  int circles = 0;
  int real = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    System system{seed, 2};
    for (int step = 0; step < 80; ++step) {
      system.step();
      const auto listing = system.listing();
      for (int thread = 0; thread < system.thread_count(); ++thread) {
        const auto wanted = system.wanted_by(thread);
        if (!wanted) continue;
        const auto circle =
            find_deadlock(listing, {system.process_of(thread), "/" + std::to_string(*wanted)});
        if (!circle) continue;
        ++circles;
        if (system.is_in_a_circle(thread)) ++real;
        for (const CyclicWait& each : circle->waits) {
          REQUIRE(system.waits_of(each.waiter.session) == 1);
        }
      }
    }
  }
  CHECK(circles > 10);
  CHECK(real > 0);
}

// The expected result of the search, by brute force: all sequences of sessions are tried.
class BruteForce {
 public:
  BruteForce(const std::vector<ListedLock>& locks, std::int64_t own) : locks_{locks}, own_{own} {}

  /// The length of the shortest circle through the session; 0 if there is none.
  [[nodiscard]] std::size_t shortest() const { return single(own_) ? longer({own_}) : 0; }

 private:
  [[nodiscard]] bool single(std::int64_t session) const {
    if (session == 0) return false;
    std::vector<std::int64_t> waiting;
    std::vector<std::int64_t> held;
    for (const ListedLock& each : locks_) {
      for (const Inspected& claim : each.contenders) {
        if (claim.participant.session != session) continue;
        if (claim.standing == Standing::unclear && claim.claim != Claim::permit) return false;
        if (claim.standing == Standing::waits) waiting.push_back(claim.participant.token.value);
        if (claim.standing == Standing::holds) held.push_back(claim.participant.token.value);
      }
    }
    return waiting.size() == 1 &&
           std::ranges::all_of(held, [&](auto token) { return token < waiting.front(); });
  }
  [[nodiscard]] bool blocks(std::int64_t holder, std::int64_t waiter) const {
    for (const ListedLock& each : locks_) {
      for (const Inspected& wait : each.contenders) {
        if (wait.participant.session != waiter || wait.standing != Standing::waits) continue;
        for (const Inspected& claim : each.contenders) {
          const bool both_read = wait.claim == Claim::read && claim.claim == Claim::read;
          if (claim.participant.session == holder && claim.standing == Standing::holds &&
              !both_read && each.kind != ListedKind::election) {
            return true;
          }
        }
      }
    }
    return false;
  }
  [[nodiscard]] std::size_t longer(const std::vector<std::int64_t>& way) const {
    if (way.size() > 1 && blocks(own_, way.back())) return way.size();
    std::size_t best = 0;
    for (std::int64_t next = 0; next <= 6; ++next) {
      const bool is_new = std::ranges::find(way, next) == way.end();
      if (!is_new || !single(next) || !blocks(next, way.back())) continue;
      std::vector<std::int64_t> on = way;
      on.push_back(next);
      const std::size_t length = longer(on);
      if (length > 0 && (best == 0 || length < best)) best = length;
    }
    return best;
  }

  const std::vector<ListedLock>& locks_;
  const std::int64_t own_;
};

TEST_CASE("deadlock: in drawn listings the circles are found that brute force finds") {
  std::mt19937 random{27};
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>{0, end - 1}(random);
  };
  int circles = 0;
  for (int round = 0; round < 12000; ++round) {
    std::vector<ListedLock> locks;
    std::vector<std::int64_t> tokens(40);
    for (std::size_t i = 0; i != tokens.size(); ++i) tokens[i] = static_cast<std::int64_t>(i + 1);
    // Most waiting contenders are younger than the holders.
    std::size_t old = 0;
    std::size_t young = 20;
    for (int i = 2 + below(4); i > 0; --i) {
      const std::array kinds{ListedKind::mutex, ListedKind::mutex, ListedKind::read_write,
                             ListedKind::election};
      const ListedKind kind = kinds.at(static_cast<std::size_t>(below(16) == 0 ? 3 : below(3)));
      const auto claim = [&] {
        if (kind != ListedKind::read_write) return Claim::mutex;
        return below(2) == 0 ? Claim::read : Claim::write;
      };
      std::vector<Claimant> claimants;
      const Claim held = claim();
      for (int each = held == Claim::read ? 1 + below(3) : 1; each > 0; --each) {
        const bool is_late = below(10) == 0;
        claimants.push_back(holds(below(7), tokens[is_late ? young++ : old++], held));
      }
      for (int each = below(3); each > 0; --each) {
        claimants.push_back(waits(below(7), tokens[young++], claim()));
      }
      if (below(30) == 0) claimants.front().standing = Standing::unclear;
      locks.push_back(locked("/" + std::to_string(i), claimants, kind));
    }
    for (const ListedLock& each : locks) {
      for (const Inspected& wait : each.contenders) {
        const std::int64_t session = wait.participant.session;
        if (wait.standing != Standing::waits) continue;
        const auto circle = find_deadlock(locks, {session, each.path});
        const std::size_t expected = BruteForce{locks, session}.shortest();
        REQUIRE((circle ? circle->waits.size() : 0) == expected);
        if (!circle) continue;
        ++circles;
        REQUIRE(circle->waits.front().waiter.session == session);
        for (std::size_t i = 0; i != circle->waits.size(); ++i) {
          const CyclicWait& next = circle->waits[(i + 1) % circle->waits.size()];
          REQUIRE(circle->waits[i].holder.session == next.waiter.session);
          REQUIRE(parent_of(circle->waits[i].waiter.node) == circle->waits[i].wanted);
        }
      }
    }
  }
  CHECK(circles > 200);
}

}  // namespace
}  // namespace custodian::tests::deadlock_property_test
