// A kept lock through every fault at every request of its client.

#include <type_traits>

#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests::kept_faults_test {

using namespace std::chrono_literals;

namespace {

/// One play: the lock is acquired and kept, taken again, wanted by another client, and by two
/// callers at once.
template <typename Mutex>
class Play {
 public:
  explicit Play(LockOptions options) : options_{std::move(options)} {}

  /// Returns what was violated; empty if all is well.
  std::string with(Faults faults) {
    World world;
    auto mine = world.client_that_counts_strays("mine");
    auto other = world.client("other");
    const auto plan = std::make_shared<FaultsAt>("mine", std::move(faults));
    world.ensemble.set_fault_plan(plan);
    violation_.clear();
    {
      Mutex mutex{*mine, "/lock", options_};
      Mutex others_mutex{*other, "/lock"};
      take_turn(world, mutex);
      take_turn(world, mutex);
      take_turn(world, others_mutex);
      take_turn(world, mutex);
      take_turns_at_once(world, mutex, others_mutex);
      take_turn(world, mutex);
    }
    mine->release_kept_locks();
    expect(world.run_until_idle(*mine), "the client comes to rest");
    expect(world.run_until_idle(*other), "the other one, too");
    steps = plan->steps();
    world.ensemble.set_fault_plan(nullptr);
    expect(world.run_until([&] { return nodes(world.ensemble) == 0; }), "no node is left");
    expect(mine->kept_locks() == 0, "nothing is kept");
    expect(world.ensemble.watches() == 0, "no watch is left");
    expect(world.strays == 0, "no create was late");
    expect(world.end(mine), "nothing keeps the client");
    expect(world.end(other), "nothing keeps the other one");
    return violation_;
  }

  std::size_t steps = 0;

 private:
  static std::size_t nodes(testing::FakeEnsemble& ensemble) {
    if constexpr (std::is_same_v<Mutex, InterProcessMutex>) {
      return ensemble.children("/lock").size();
    } else {
      return ensemble.children("/lock/locks").size() + ensemble.children("/lock/leases").size();
    }
  }
  void take_turn(World& world, Mutex& mutex) {
    auto turn = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    end_turn(turn);
  }
  void take_turns_at_once(World& world, Mutex& mutex, Mutex& others_mutex) {
    std::vector<Outcome<Lease>> turns(3);
    mutex.async_acquire(turns[0].handler());
    others_mutex.async_acquire(turns[1].handler());
    mutex.async_acquire(turns[2].handler());
    for (std::size_t left = turns.size(); left > 0; --left) {
      const auto next = [&] {
        return std::ranges::find_if(turns, [](const auto& each) { return each.arrived(); });
      };
      if (!world.run_until([&] { return next() != turns.end(); }))
        return expect(false, "all have their turn");
      const auto turn = next();
      world.settle();
      expect(std::ranges::count_if(turns, &Play<Mutex>::holds) <= 1, "one at a time has its turn");
      end_turn(*turn);
      turns.erase(turn);
    }
  }
  static bool holds(const Outcome<Lease>& turn) {
    return turn.arrived() && !turn.error() && turn.result().state() == LeaseState::held;
  }
  void end_turn(const Outcome<Lease>& turn) {
    if (!turn.arrived()) return expect(false, "each has its turn");
    if (turn.error()) return expect(false, "no turn fails: " + turn.error().message());
    Lease& lease = turn.result();
    const FencingToken token = lease.token();
    // A lease that is lost by now says nothing of the order.
    if (lease.state() != LeaseState::lost) {
      expect(token > last_ || last_ == FencingToken{}, "tokens grow");
      last_ = token;
    }
    lease.release();
  }
  void expect(bool holds, const std::string& what) {
    if (!holds && violation_.empty()) violation_ = what;
  }

  LockOptions options_;
  std::string violation_;
  FencingToken last_{};
};

template <typename Mutex = InterProcessMutex>
void play_all(const LockOptions& options) {
  const std::size_t steps = [&] {
    Play<Mutex> play{options};
    CHECK(play.with({}).empty());
    return play.steps;
  }();
  CHECK(steps > 8);
  for (std::size_t at = 0; at < steps + 2; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const std::string violation = Play<Mutex>{options}.with({{at, fault}});
      INFO(describe(fault) << " at request " << at);
      CHECK(violation == "");
    }
  }
}

TEST_CASE("kept: a lock that is kept survives every fault") {
  play_all({.keep_idle_for = a_minute});
}

TEST_CASE("kept: a cohort's lock that is kept survives every fault") {
  play_all({.hand_off = HandOff::cohort(2), .keep_idle_for = a_minute});
}

TEST_CASE("kept: a semaphore mutex that is kept survives every fault") {
  play_all<InterProcessSemaphoreMutex>({.keep_idle_for = a_minute});
}

TEST_CASE("kept: pairs of faults") {
  Sample sample;
  const LockOptions options{.keep_idle_for = a_minute};
  Play<InterProcessMutex> without{options};
  CHECK(without.with({}).empty());
  for (std::size_t first = 0; first < without.steps; ++first) {
    for (std::size_t gap = 1; gap < 8; ++gap) {
      for (const FaultKind one : {FaultKind::fail_before, FaultKind::fail_after}) {
        for (const FaultKind two :
             {FaultKind::fail_before, FaultKind::fail_after, FaultKind::expire_before}) {
          if (!sample.takes_next()) continue;
          const std::string violation = Play<InterProcessMutex>{options}.with(
              {{first, {.kind = one}}, {first + gap, {.kind = two}}});
          INFO(to_string(one) << " at request " << first << ", " << to_string(two) << " " << gap
                              << " later");
          CHECK(violation == "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::kept_faults_test
