// An observer's events of locks that are kept.

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/testing/fake_clock.hpp"
#include "scripted/observe/observed.hpp"

namespace custodian::tests::observer_kept_test {
namespace {

using namespace std::chrono_literals;
using Lines = Records::Lines;

TEST_CASE("observer: the holders of a kept lock are reported in sums, and why it was given back") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.keep_idle_for = 1min}};
  observed.acquire(mutex).release();
  const Lines first{"begun InterProcessMutex /lock", "acquired InterProcessMutex /lock",
                    "released InterProcessMutex /lock"};
  CHECK(observed.told() == first);
  const FencingToken token = observed.records->token;
  for (int i = 0; i < 5; ++i) observed.acquire(mutex).release();
  CHECK(observed.told().empty());
  SECTION("on demand") {
    observed.mine->release_kept_locks();
    CHECK(observed.told() == Lines{"reused InterProcessMutex /lock x5",
                                   "no longer kept: InterProcessMutex /lock: unusable"});
  }
  SECTION("to another contender") {
    InterProcessMutex others{*observed.other, "/lock"};
    observed.acquire(others).release();
    CHECK(observed.told() == Lines{"reused InterProcessMutex /lock x5",
                                   "no longer kept: InterProcessMutex /lock: wanted"});
  }
  SECTION("to an acquire of its own client") {
    InterProcessMutex another{*observed.mine, "/lock"};
    observed.acquire(another).release();
    CHECK(observed.told().front() == "reused InterProcessMutex /lock x5");
  }
  CHECK(observed.records->token.value >= token.value);
  observed.mine->release_kept_locks();
}

TEST_CASE("observer: a lock that is used all the time is reported now and then") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.keep_idle_for = 40ms}};
  observed.acquire(mutex).release();
  static_cast<void>(observed.told());
  Lines told;
  const bool arrived = observed.world.run_until([&] {
    observed.acquire(mutex).release();
    told = observed.told();
    return !told.empty();
  });
  REQUIRE(arrived);
  CHECK(told.front().starts_with("reused InterProcessMutex /lock x"));
  // A kept lock that is not used is given back.
  CHECK(observed.world.run_until([&] { return observed.mine->kept_locks() == 0; }));
  const Lines last = observed.told();
  CHECK(last.back() == "no longer kept: InterProcessMutex /lock: unused");
}

TEST_CASE("observer: a kept lock that an acquire finds near the end of its lease is reported") {
  const auto clock = std::make_shared<testing::FakeClock>(20s);
  World world{clock};
  const auto records = std::make_shared<Records>();
  ClientOptions options = world.options("mine");
  options.session_timeout = 10s;
  options.observer = records;
  auto client = world.client(std::move(options));
  {
    InterProcessMutex mutex{*client, "/lock", {.keep_idle_for = 1min}};
    const auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    first.result().release();
    world.settle();
    REQUIRE(client->kept_locks() == 1);
    clock->jump(7s);
    Outcome<Lease> next;
    mutex.async_acquire(next.handler());  // before the client has noticed the time
    const std::string ended = "no longer kept: InterProcessMutex /lock: unusable";
    CHECK(world.run_until([&] { return std::ranges::count(records->locks, ended) == 1; }));
    // The session is proved alive in the clock's time, and tries are repeated in real time.
    const Deadline deadline{World::limit};
    while (!next.arrived() && !deadline.passed()) {
      clock->advance(100ms, world.context);
      world.run_for(1ms);
    }
    REQUIRE(next.arrived());
    REQUIRE_FALSE(next.error());
    next.result().release();
    client->release_kept_locks();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("observer: a lost holder of a kept lock is reported from its begin to its release") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock", {.keep_idle_for = 1min}};
  observed.acquire(mutex).release();
  Lease lease = observed.acquire(mutex);
  static_cast<void>(observed.told());
  observed.world.ensemble.expire(observed.mine->session().id);
  REQUIRE(observed.world.run_until([&] { return lease.lost().stop_requested(); }));
  lease.release();
  const Lines told = observed.told();
  const auto at = [&](std::string_view what) {
    return std::ranges::find_if(told, [&](const auto& each) { return each.starts_with(what); });
  };
  REQUIRE(at("begun") != told.end());
  CHECK(at("begun") < at("lost"));
  CHECK(at("lost") < at("released"));
  CHECK(at("released") != told.end());
}

TEST_CASE("observer: readers that join a node are reported in sums") {
  Observed observed;
  InterProcessReadWriteLock lock{*observed.mine, "/lock", {.share_readers = 64}};
  Lease first = observed.acquire(lock.read());
  static_cast<void>(observed.told());
  std::vector<Lease> joined;
  for (int i = 0; i < 3; ++i) joined.push_back(observed.acquire(lock.read()));
  joined.clear();
  CHECK(observed.told().empty());
  first.release();
  const Lines told = observed.told();
  CHECK(told.size() == 2);
  CHECK(std::ranges::count(told, "reused InterProcessReadWriteLock::read /lock x3") == 1);
  CHECK(std::ranges::count(told, "released InterProcessReadWriteLock::read /lock") == 1);
}

}  // namespace
}  // namespace custodian::tests::observer_kept_test
