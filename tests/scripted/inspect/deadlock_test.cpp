// Acquires that detect deadlocks: which of them fail, when, and which go on waiting.

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/inspect/deadlock_scene.hpp"
#include "scripted/observe/observed.hpp"

namespace custodian::tests::deadlock_test {
namespace {

namespace asio = boost::asio;

/// Two clients: "one" holds x, and "two" holds y.
struct Scene {
  explicit Scene(LockOptions of_locks = {})
      : one{world, world.options("one"), of_locks}, two{world, "two"} {
    hold_x = one.acquire(*one.x);
    hold_y = two.acquire(*two.y);
    world.ensemble.set_fault_plan(counter);
  }
  ~Scene() {
    world.ensemble.set_fault_plan(nullptr);
    hold_x.release();
    hold_y.release();
    CHECK(one.end().empty());
    CHECK(two.end().empty());
    CHECK(world.ensemble.watches() == 0);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Runs for some looks' time, whether or not there are any.
  void pass_time(int looks = 12) {
    asio::steady_timer timer{world.context, between_looks * looks};
    bool over = false;
    timer.async_wait([&](error_code) { over = true; });
    REQUIRE(world.run_until([&] { return over; }));
  }
  /// Lets an acquire that waits for y end with a lease.
  void let_in(const Outcome<AcquireResult>& waiting) {
    REQUIRE_FALSE(waiting.arrived());
    hold_y.release();
    REQUIRE(world.run_until_arrived(waiting));
    CHECK_FALSE(waiting.error());
    CHECK(waiting.result());
    waiting.result().lease.release();
  }
  /// Ends a wait of "two".
  void give_up(const Outcome<AcquireResult>& waiting) {
    two.give_up.emit(asio::cancellation_type::total);
    REQUIRE(world.run_until_arrived(waiting));
  }

  World world;
  std::shared_ptr<LookCounter> counter = std::make_shared<LookCounter>();
  Party one;
  Party two;
  Lease hold_x;
  Lease hold_y;
};

TEST_CASE("deadlock: the waiter that has closed a circle fails at its second look") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  std::optional<WaitCycle> circle;
  const auto waiting = scene.one.wait(
      *scene.one.y, looking({.on_deadlock = [&](const WaitCycle& each) { circle = each; }}));
  REQUIRE(scene.world.run_until([&] { return waiting.arrived() && circle; }));
  CHECK(waiting.error() == deadlock_error());
  CHECK(waiting.result().reason == NotAcquired::none);
  CHECK_FALSE(waiting.result());
  CHECK(scene.counter->looks == 2);
  REQUIRE(circle->waits.size() == 2);
  CHECK(circle->waits[0].wanted == "/locks/y");
  CHECK(circle->waits[0].waiter.identity == "one");
  CHECK(circle->waits[1].wanted == "/locks/x");
  CHECK(waiting.result().deadlock.starts_with("2 processes wait for each other: one (session 0x"));
  // It has left the queue, and the other one goes on when the lock is released.
  REQUIRE(
      scene.world.run_until([&] { return scene.world.ensemble.children("/locks/y").size() == 1; }));
  scene.hold_x.release();
  REQUIRE(scene.world.run_until_arrived(older));
  CHECK(older.result());
  older.result().lease.release();
}

TEST_CASE("deadlock: an older waiter fails two looks later, if the youngest one does not") {
  Scene scene;
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  const auto younger = scene.two.wait(*scene.two.x);
  const std::size_t before = scene.counter->looks;
  REQUIRE(scene.world.run_until_arrived(waiting));
  CHECK(waiting.error() == deadlock_error());
  // The first of these looks may have begun before the circle was closed.
  CHECK(scene.counter->looks >= before + 4);
  CHECK(scene.counter->looks <= before + 5);
  scene.hold_x.release();
  REQUIRE(scene.world.run_until_arrived(younger));
  younger.result().lease.release();
}

TEST_CASE("deadlock: of two that look exactly one fails, the youngest") {
  Scene scene;
  const auto older = scene.one.wait(*scene.one.y, looking());
  const auto younger = scene.two.wait(*scene.two.x, looking());
  REQUIRE(scene.world.run_until_arrived(younger));
  CHECK(younger.error() == deadlock_error());
  scene.pass_time();
  CHECK_FALSE(older.arrived());
  scene.let_in(older);
}

TEST_CASE("deadlock: an acquire without the option waits on, and does not look") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  const auto waiting = scene.one.wait(*scene.one.y);
  scene.pass_time();
  CHECK(scene.counter->looks == 0);
  scene.give_up(older);
  scene.let_in(waiting);
}

TEST_CASE("deadlock: a client that holds nothing does not look") {
  Scene scene;
  scene.hold_x.release();
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  scene.pass_time();
  CHECK(scene.counter->looks == 0);
  scene.let_in(waiting);
}

TEST_CASE("deadlock: a client with another acquire under way does not look") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  InterProcessMutex elsewhere{*scene.one.client, "/elsewhere"};
  InterProcessMutex of_two{*scene.two.client, "/elsewhere"};
  Lease held = scene.two.acquire(of_two);
  Outcome<Lease> second;
  elsewhere.async_acquire(second.handler());
  scene.world.settle();
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  scene.pass_time();
  CHECK(scene.counter->looks == 0);
  CHECK_FALSE(waiting.arrived());
  // It looks when the other acquire has ended.
  held.release();
  REQUIRE(scene.world.run_until_arrived(waiting));
  second.result().release();
  CHECK(waiting.error() == deadlock_error());
  scene.give_up(older);
}

TEST_CASE("deadlock: a client whose threads wait among themselves does not look") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  InterProcessMutex cohort{*scene.one.client, "/cohort", {.hand_off = HandOff::cohort(4)}};
  Lease held = scene.one.acquire(cohort);
  Outcome<Lease> second;
  cohort.async_acquire(second.handler());
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  scene.pass_time();
  CHECK(scene.counter->looks == 0);
  held.release();
  REQUIRE(scene.world.run_until_arrived(second));
  second.result().release();
  scene.give_up(older);
  scene.let_in(waiting);
}

TEST_CASE("deadlock: a client that only keeps a lock without a holder does not look") {
  Scene scene{{.keep_idle_for = std::chrono::minutes{1}}};
  scene.hold_x.release();
  scene.world.settle();
  REQUIRE(scene.one.client->kept_locks() == 1);
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  scene.pass_time();
  CHECK(scene.counter->looks == 0);
  CHECK(scene.one.client->kept_locks() == 1);
  scene.let_in(waiting);
  scene.one.client->release_kept_locks();
}

TEST_CASE("deadlock: a circle that has gone before the second look is none") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  scene.counter->on_look = [&](std::size_t look) {
    if (look != 2) return;
    asio::post(scene.world.context,
               [&] { scene.two.give_up.emit(asio::cancellation_type::total); });
  };
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  // The second look may still see the circle.
  REQUIRE(scene.world.run_until_arrived(older));
  if (!waiting.arrived()) {
    scene.pass_time();
    scene.let_in(waiting);
  }
}

TEST_CASE("deadlock: each look sees another wait of the same session, and none counts") {
  Scene scene;
  std::vector<Outcome<AcquireResult>> waits;
  waits.push_back(scene.two.wait(*scene.two.x));
  bool is_over = false;
  // Whenever "one" looks, "two" gives up when the look has ended, and waits anew.
  const auto wait_anew = [&] {
    if (is_over) return;
    scene.two.give_up.emit(asio::cancellation_type::total);
    Outcome<AcquireResult> place;
    scene.two.x->async_try_acquire_until(
        Deadline::never(), AcquireOptions{},
        asio::bind_cancellation_slot(scene.two.give_up.slot(), place.handler()));
    waits.push_back(place);
  };
  asio::steady_timer timer{scene.world.context};
  scene.counter->on_look = [&](std::size_t) {
    timer.expires_after(between_looks / 3);
    timer.async_wait([&](error_code) { wait_anew(); });
  };
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  REQUIRE(scene.world.run_until([&] { return scene.counter->looks >= 12 || waiting.arrived(); }));
  CHECK_FALSE(waiting.arrived());
  is_over = true;
  scene.give_up(waits.back());
  scene.let_in(waiting);
}

TEST_CASE("deadlock: what a look cannot see might contradict it: the acquire waits on") {
  std::vector<std::string> warnings;
  World world;
  ClientOptions options = world.options("one");
  options.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::warning) warnings.emplace_back(line);
  };
  Party one{world, std::move(options)};
  Party two{world, "two"};
  Lease hold_x = one.acquire(*one.x);
  Lease hold_y = two.acquire(*two.y);
  const auto older = two.wait(*two.x);
  const auto counter = std::make_shared<LookCounter>();
  world.ensemble.set_fault_plan(counter);
  std::string why;
  DeadlockOptions detection;
  SECTION("a node that may not be read") {
    world.make("/locks/secret");
    world.ensemble.refuse("/locks/secret");
    why = "may not read";
  }
  SECTION("more nodes than it lists") {
    detection.max_nodes = 2;
    why = "more nodes";
  }
  const auto waiting = one.wait(*one.y, looking(std::move(detection)));
  REQUIRE(world.run_until([&] { return counter->looks >= 8 || waiting.arrived(); }));
  CHECK_FALSE(waiting.arrived());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().find(why) != std::string::npos);
  hold_y.release();
  REQUIRE(world.run_until_arrived(waiting));
  CHECK(waiting.result());
  waiting.result().lease.release();
  hold_x.release();
  REQUIRE(world.run_until_arrived(older));
  older.result().lease.release();
  CHECK(one.end().empty());
  CHECK(two.end().empty());
}

TEST_CASE("deadlock: a lock elsewhere cannot be judged, and the acquire is refused at once") {
  Scene scene;
  const auto elsewhere =
      scene.one.wait(*scene.one.y, {.detect_deadlock = detect_deadlock({.below = "/loc"})});
  REQUIRE(elsewhere.arrived());
  CHECK(elsewhere.error() == Errc::invalid_argument);
  const auto itself =
      scene.one.wait(*scene.one.y, {.detect_deadlock = detect_deadlock({.below = "/locks/y"})});
  CHECK_FALSE(itself.arrived());
  scene.let_in(itself);
}

TEST_CASE("deadlock: a try looks for nothing") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  const auto tried = run<AcquireResult>(
      scene.world, [&](auto done) { scene.one.y->async_try_acquire(looking(), done); });
  CHECK_FALSE(tried.error());
  CHECK(tried.result().reason == NotAcquired::blocked);
  CHECK(scene.counter->looks == 0);
  scene.give_up(older);
}

TEST_CASE("deadlock: the deadline ends an acquire that looks, with its own result") {
  Scene scene;
  const auto waiting = run<AcquireResult>(scene.world, [&](auto done) {
    scene.one.y->async_try_acquire_for(between_looks * 5, looking(), done);
  });
  REQUIRE(waiting.arrived());
  CHECK_FALSE(waiting.error());
  CHECK(waiting.result().reason == NotAcquired::blocked);
  CHECK(waiting.result().deadlock.empty());
}

TEST_CASE("deadlock: a request to release is no end of the wait, and no circle") {
  Scene scene;
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  std::string own;
  for (const std::string& name : scene.world.ensemble.children("/locks/y")) {
    if ("/locks/y/" + name != scene.hold_y.node()) own = "/locks/y/" + name;
  }
  const auto asked = run<bool>(scene.world, [&](auto done) {
    async_revoke(*scene.two.client, own, OperationOptions{}, done);
  });
  CHECK_FALSE(asked.error());
  scene.pass_time();
  scene.let_in(waiting);
}

TEST_CASE("deadlock: a closing client ends an acquire that looks") {
  Scene scene;
  const auto older = scene.two.wait(*scene.two.x);
  const auto waiting = scene.one.wait(*scene.one.y, looking());
  REQUIRE(scene.world.run_until([&] { return scene.counter->looks == 1; }));
  scene.one.client->close();
  REQUIRE(scene.world.run_until_arrived(waiting));
  CHECK(waiting.error() == Errc::closed);
  REQUIRE(scene.world.run_until_arrived(older));
  older.result().lease.release();
}

TEST_CASE("deadlock: an observer hears of an acquire that has failed") {
  Observed observed;
  World& world = observed.world;
  {
    InterProcessMutex mine_x{*observed.mine, "/locks/x"};
    InterProcessMutex mine_y{*observed.mine, "/locks/y"};
    InterProcessMutex others_x{*observed.other, "/locks/x"};
    InterProcessMutex others_y{*observed.other, "/locks/y"};
    Lease hold_x = observed.acquire(mine_x);
    Lease hold_y = observed.acquire(others_y);
    Outcome<Lease> older;
    others_x.async_acquire(older.handler());
    REQUIRE(world.run_until([&] { return world.ensemble.children("/locks/x").size() == 2; }));
    const auto waiting = run<AcquireResult>(world, [&](auto done) {
      mine_y.async_try_acquire_until(Deadline::never(), looking(), done);
    });
    CHECK(waiting.error() == deadlock_error());
    CHECK(observed.told().back() ==
          "failed InterProcessMutex /locks/y: " + deadlock_error().message());
    CHECK(observed.records->error == deadlock_error());
    hold_x.release();
    REQUIRE(world.run_until_arrived(older));
    older.result().release();
    hold_y.release();
    world.settle();
  }
}

TEST_CASE("deadlock: a permit of a semaphore closes a circle, and readers do") {
  Scene scene;
  InterProcessReadWriteLock table{*scene.one.client, "/locks/table"};
  InterProcessReadWriteLock tables{*scene.two.client, "/locks/table"};
  InterProcessSemaphore pool{*scene.one.client, "/locks/pool", 2};
  InterProcessSemaphore pools{*scene.two.client, "/locks/pool", 2};
  SECTION("a writer behind a reader") {
    auto reading = run<Lease>(scene.world, [&](auto done) { tables.read().async_acquire(done); });
    const auto older = scene.two.wait(*scene.two.x);
    const auto waiting = run<AcquireResult>(scene.world, [&](auto done) {
      table.write().async_try_acquire_until(Deadline::never(), looking(), done);
    });
    CHECK(waiting.error() == deadlock_error());
    scene.give_up(older);
    reading.result().release();
  }
  SECTION("an acquire of permits behind the only holder") {
    auto held =
        run<std::vector<Lease>>(scene.world, [&](auto done) { pools.async_acquire(2, done); });
    const auto older = scene.two.wait(*scene.two.x);
    const auto waiting = run<PermitsResult>(scene.world, [&](auto done) {
      pool.async_try_acquire_until(1, Deadline::never(), looking(), done);
    });
    CHECK(waiting.error() == deadlock_error());
    CHECK(waiting.result().deadlock.find("/locks/pool") != std::string::npos);
    scene.give_up(older);
    held.result().clear();
  }
}

}  // namespace
}  // namespace custodian::tests::deadlock_test
