// Locks, sets of locks and moving locks in a forked child: every acquire fails, and nothing is
// released.

#include "custodian/ensembles/ensemble_map.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/ensembles/moving_mutex_process.hpp"
#include "scripted/forked_child.hpp"

namespace custodian::tests::forked_locks_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("fork: a lock cannot be acquired in the child, also one that is made there") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  std::optional<StripedMutex> striped{std::in_place, *client, "/stripes", 2U};
  std::optional<InterProcessSemaphore> permits{std::in_place, *client, "/permits", 2};
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    InterProcessMutex kept{*client, "/kept", {.keep_idle_for = 1s}};
    InterProcessReadWriteLock shared{*client, "/shared", {.share_readers = 5}};
    for (InterProcessLock* lock :
         {static_cast<InterProcessLock*>(&*mutex), static_cast<InterProcessLock*>(&kept),
          static_cast<InterProcessLock*>(&shared.read())}) {
      report.throws(lock->path() + ": acquire", [&] { return lock->acquire(); });
      report.throws(lock->path() + ": try_acquire", [&] { return lock->try_acquire(); });
      report.throws(lock->path() + ": lock", [&] { return lock->lock(); });
      report.fails<Lease>(lock->path() + ": async_acquire",
                          [&](auto done) { lock->async_acquire(done); });
      report.fails<std::vector<Participant>>(lock->path() + ": async_participants", [&](auto done) {
        lock->async_participants({}, done);
      });
    }
    report.fails<StripeLease>("async_acquire_any",
                              [&](auto done) { striped->async_acquire_any(done); });
    report.fails<std::vector<Lease>>("a semaphore's async_acquire",
                                     [&](auto done) { permits->async_acquire(2, done); });
    mutex.reset();
    striped.reset();
    permits.reset();
  });
  CHECK(wrong == "");
  mutex.reset();
  striped.reset();
  permits.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a kept lock is not taken in the child") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock",
                                         LockOptions{.keep_idle_for = 60s}};
  {
    const auto held = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE_FALSE(held.error());
    const Lease ends = std::move(held.result());
  }
  REQUIRE(world.run_until([&] { return client->kept_locks() == 1; }));
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.throws("acquire", [&] { return mutex->acquire(); });
    report.fails<Lease>("async_acquire", [&](auto done) { mutex->async_acquire(done); });
    mutex.reset();
    client.reset();
  });
  CHECK(wrong == "");
  CHECK(client->kept_locks() == 1);
  mutex.reset();
  CHECK(world.end(client));
}

/// A lock whose hold counts its end.
class CountedLock final : public CustomLock {
 public:
  struct Hold final : CustomHold {
    explicit Hold(int& counted) : ends{counted} {}
    ~Hold() override { ++ends; }
    void release() override { ++ends; }
    int& ends;
  };

  [[nodiscard]] std::string name() const override { return "counted"; }
  void async_acquire(CustomLimit, CustomAnswer answer) override {
    answer({}, std::make_unique<Hold>(ends));
  }

  int ends = 0;
};

TEST_CASE("fork: a group of leases is the parent's, and its end in the child releases nothing") {
  EndingWorld world;
  auto client = world.client("mine");
  const auto counted = std::make_shared<CountedLock>();
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  std::optional<InterProcessMultiLock> all{InterProcessMultiLock{{*mutex, counted}}};
  auto acquired = run<LeaseGroup>(world, [&](auto done) { all->async_acquire(done); });
  REQUIRE_FALSE(acquired.error());
  LeaseGroup& group = acquired.result();
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.fails<>("async_wait_lost", [&](auto done) { group.async_wait_lost(done); });
    report.fails<LeaseGroup>("async_acquire", [&](auto done) { all->async_acquire(done); });
    report.throws("acquire", [&] { return all->acquire(); });
    const std::stop_token lost = group.lost();
    group.release();
    world.settle();
    report.expect(!lost.stop_requested(), "the group is not lost");
    report.expect(counted->ends == 0, "the custom lock is not released");
  });
  CHECK(wrong == "");
  CHECK(group.state() == LeaseState::held);
  CHECK(counted->ends == 0);
  group.release();
  CHECK(world.run_until([&] { return counted->ends > 0; }));
  all.reset();
  mutex.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a moving lease is lost in the child, where nothing of it is known",
          "[ensembles]") {
  using namespace moving_mutex_process;
  Ensembles ensembles;
  make_map(ensembles);
  LockProcess mine{ensembles, "mine"};
  MovingLease lease = acquire(ensembles, mine);
  std::optional<EnsembleMap> map{
      EnsembleMap{layout_at(0), {{"east", *mine.east}, {"west", *mine.west}}}};
  const std::string wrong =
      in_forked_child(ensembles.world, {*mine.east, *mine.west}, [&](ChildReport& report) {
        report.expect(lease.state() == LeaseState::lost, "the lease is lost");
        report.expect(lease.remaining() == 0ns, "no time remains");
        report.expect(lease.token() == FencingToken{}, "it has no token");
        report.expect(lease.homes().empty(), "it has no homes");
        report.throws("check", [&] { return lease.check("east"); });
        report.fails<MapVerdict>("async_verify",
                                 [&](auto done) { map->async_verify("/check", done); });
        report.throws("verify", [&] { return map->verify("/check"); });
        report.throws("acquire", [&] { return mine.mutex->acquire(); });
        report.fails<MovingLease>("async_acquire",
                                  [&](auto done) { mine.mutex->async_acquire(done); });
        report.throws("move_to", [&] { return mine.map->move_to(layout_at(1)); });
        lease.release();
        mine.mutex.reset();
        mine.map.reset();
      });
  CHECK(wrong == "");
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  map.reset();
  CHECK(mine.end(ensembles));
}

}  // namespace
}  // namespace custodian::tests::forked_locks_test
