// An observer is notified once of the begin of each acquire, and then once of its end, in whatever
// way the acquire ends. ~Observed() compares the begins with the ends.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/observe/observed.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::acquire_pairs_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Lines = Records::Lines;

const std::string mutex_line = "InterProcessMutex /lock";

// -- What has begun -------------------------------------------------------------------------------

TEST_CASE("observer: an acquire has begun when it is called, and its end says when that was") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  InterProcessMutex others{*observed.other, "/lock"};
  Lease held = observed.acquire(others);
  const auto before = BootClock::now();
  Outcome<Lease> waiting;
  mutex.async_acquire(waiting.handler());
  const auto after = BootClock::now();
  CHECK(observed.begun() == Lines{mutex_line});
  REQUIRE(observed.records->open.size() == 1);
  const auto began = std::get<BootClock::time_point>(*observed.records->open.begin());
  CHECK(began >= before);
  CHECK(began <= after);
  CHECK(observed.told().empty());
  held.release();
  REQUIRE(observed.world.run_until_arrived(waiting));
  observed.world.settle();
  CHECK(observed.records->open.empty());
  waiting.result().release();
}

TEST_CASE("observer: a try has begun, and so has an acquire that gets its lock at once") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  Lease lease = observed.acquire(mutex);
  CHECK(observed.begun() == Lines{mutex_line});
  InterProcessMutex another{*observed.mine, "/lock"};
  Outcome<AcquireResult> tried;
  another.async_try_acquire(tried.handler());
  REQUIRE(observed.world.run_until_arrived(tried));
  CHECK_FALSE(tried.result().lease);
  CHECK(observed.begun() == Lines{mutex_line});
}

TEST_CASE("observer: a call that is refused, or needs no acquire, has not begun") {
  Observed observed;
  InterProcessMutex mutex{*observed.mine, "/lock"};
  SECTION("a mistake in its arguments") {
    AcquireOptions never;
    never.lease.hold_at_most = 0ns;
    Outcome<Lease> refused;
    mutex.async_acquire(never, refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
  }
  SECTION("a closed client") {
    observed.close();
    Outcome<Lease> refused;
    mutex.async_acquire(refused.handler());
    REQUIRE(observed.world.run_until_arrived(refused));
  }
  SECTION("a re-entry") {
    const Lease lease = observed.acquire(mutex);
    CHECK(observed.begun() == Lines{mutex_line});
    auto again = run<Lease>(observed.world, [&](auto done) { mutex.async_acquire(lease, done); });
    REQUIRE(again.arrived());
  }
  SECTION("a kept lock that is taken again") {
    InterProcessMutex kept{*observed.mine, "/lock", {.keep_idle_for = 1min}};
    observed.acquire(kept).release();
    CHECK(observed.begun() == Lines{mutex_line});
    observed.acquire(kept).release();
    CHECK(observed.begun().empty());
    observed.mine->release_kept_locks();
  }
  SECTION("a reader that joins a node") {
    InterProcessReadWriteLock lock{*observed.mine, "/lock", {.share_readers = 64}};
    const Lease first = observed.acquire(lock.read());
    CHECK(observed.begun() == Lines{"InterProcessReadWriteLock::read /lock"});
    const Lease second = observed.acquire(lock.read());
  }
  CHECK(observed.begun().empty());
}

TEST_CASE("observer: each waiter that shares a node begins by itself, and no stand-in does") {
  Observed observed;
  // A writer is in the way of readers, a mutex's holder is not.
  InterProcessMutex others{*observed.other, "/lock"};
  InterProcessReadWriteLock writers{*observed.other, "/lock"};
  Lease held;
  std::vector<Outcome<Lease>> waiting(3);
  SECTION("a cohort") {
    held = observed.acquire(others);
    InterProcessMutex mutex{*observed.mine, "/lock", {.hand_off = HandOff::cohort(8)}};
    for (auto& each : waiting) mutex.async_acquire(each.handler());
    CHECK(observed.begun() == Lines(3, mutex_line));
  }
  SECTION("a kept lock") {
    held = observed.acquire(others);
    InterProcessMutex mutex{*observed.mine, "/lock", {.keep_idle_for = 1min}};
    for (auto& each : waiting) mutex.async_acquire(each.handler());
    CHECK(observed.begun() == Lines(3, mutex_line));
  }
  SECTION("readers") {
    held = observed.acquire(writers.write());
    InterProcessReadWriteLock lock{*observed.mine, "/lock", {.share_readers = 64}};
    for (auto& each : waiting) lock.read().async_acquire(each.handler());
    CHECK(observed.begun() == Lines(3, "InterProcessReadWriteLock::read /lock"));
  }
  CHECK(observed.records->open.size() == 3);
  held.release();
  for (auto& each : waiting) {
    REQUIRE(observed.world.run_until_arrived(each));
    CHECK_FALSE(each.error());
    each.result().release();
  }
  observed.mine->release_kept_locks();
  observed.world.settle();
  CHECK(observed.records->open.empty());
  CHECK(observed.records->begun.empty());
}

TEST_CASE("observer: several permits, any stripe and a queue for another session begin once") {
  Observed observed;
  SECTION("permits") {
    InterProcessSemaphore semaphore{*observed.mine, "/permits", 3};
    auto acquired = run<std::vector<Lease>>(observed.world,
                                            [&](auto done) { semaphore.async_acquire(2, done); });
    REQUIRE(acquired.arrived());
    CHECK(observed.begun() == Lines{"InterProcessSemaphore /permits"});
  }
  SECTION("any stripe") {
    StripedMutex striped{*observed.mine, "/stock", 2};
    auto any =
        run<StripeLease>(observed.world, [&](auto done) { striped.async_acquire_any(done); });
    REQUIRE(any.arrived());
    CHECK(observed.begun() == Lines{"StripedMutex /stock"});
  }
  SECTION("another session") {
    InterProcessMutex mutex{*observed.mine, "/lock"};
    InterProcessMutex others{*observed.other, "/lock"};
    Lease held = observed.acquire(others);
    bool requeued = false;
    AcquireOptions options;
    options.on_requeued = [&] { requeued = true; };
    Outcome<Lease> waiting;
    mutex.async_acquire(options, waiting.handler());
    observed.world.settle();
    observed.world.ensemble.expire(observed.mine->session().id);
    REQUIRE(observed.world.run_until([&] { return requeued; }));
    held.release();
    REQUIRE(observed.world.run_until_arrived(waiting));
    CHECK(observed.begun() == Lines{mutex_line});
  }
}

TEST_CASE("observer: a multi lock begins an acquire of each lock when its turn has come") {
  Observed observed;
  InterProcessMutex a{*observed.mine, "/a"};
  InterProcessMutex b{*observed.mine, "/b"};
  InterProcessMutex others{*observed.other, "/a"};
  Lease held = observed.acquire(others);
  InterProcessMultiLock all{{a, b}};
  Outcome<LeaseGroup> waiting;
  all.async_acquire(waiting.handler());
  CHECK(observed.begun() == Lines{"InterProcessMutex /a"});
  held.release();
  REQUIRE(observed.world.run_until_arrived(waiting));
  CHECK(observed.begun() == Lines{"InterProcessMutex /b"});
}

// -- How it ends ----------------------------------------------------------------------------------

/// How the acquires of a play are made.
enum class Way { by_itself, cohort, kept, readers };

LockOptions options_of(Way way) {
  switch (way) {
    case Way::by_itself: return {};
    case Way::cohort: return {.hand_off = HandOff::cohort(2)};
    case Way::kept: return {.keep_idle_for = 1min};
    case Way::readers: return {.share_readers = 2};
  }
  return {};
}

/// Acquires of one client that is not the only one: a try, some that wait, one with a short limit,
/// and one that is given up; with faults at some of the requests, or the client's end at one.
/// Returns how many requests there were. ~Observed() finds the acquires without an end.
std::size_t play(Way way, Faults faults, std::optional<std::size_t> close_at = {}) {
  Observed observed;
  InterProcessMutex others{*observed.other, "/lock"};
  InterProcessReadWriteLock writers{*observed.other, "/lock"};
  Lease held = way == Way::readers ? observed.acquire(writers.write()) : observed.acquire(others);
  const auto plan = std::make_shared<FaultsAt>("mine", std::move(faults));
  std::size_t requests = 0;
  plan->submitted = [&](std::size_t at) {
    ++requests;
    if (at == close_at) asio::post(observed.world.context, [&] { observed.mine->close(); });
  };
  observed.world.ensemble.set_fault_plan(plan);

  InterProcessMutex mutex{*observed.mine, "/lock",
                          way == Way::readers ? LockOptions{} : options_of(way)};
  InterProcessReadWriteLock both{*observed.mine, "/lock",
                                 way == Way::readers ? options_of(way) : LockOptions{}};
  // A fault may change their order in the queue, so each one releases what it gets by itself.
  std::size_t begun = 0;
  std::size_t ended = 0;
  const auto with_lease = [&](error_code, Lease /*released here*/) { ++ended; };
  const auto with_result = [&](error_code, AcquireResult /*released here*/) { ++ended; };
  asio::cancellation_signal signal;
  const auto begin = [&](auto& lock) {
    lock.async_try_acquire(with_result);
    for (int i = 0; i < 3; ++i) lock.async_acquire(with_lease);
    lock.async_try_acquire_for(1ms, with_result);
    lock.async_acquire(asio::bind_cancellation_slot(signal.slot(), with_lease));
    begun += 6;
  };
  if (way == Way::readers) {
    begin(both.read());
  } else {
    begin(mutex);
  }
  observed.world.settle();
  signal.emit(asio::cancellation_type::total);
  held.release();
  CHECK(observed.world.run_until([&] { return ended == begun; }));
  observed.world.ensemble.set_fault_plan(nullptr);
  asio::post(observed.world.context, [&] { observed.mine->close(); });
  CHECK(observed.world.run_until_idle(*observed.mine));
  return requests;
}

const auto all_ways = {Way::by_itself, Way::cohort, Way::kept, Way::readers};

TEST_CASE("observer: begins and ends of acquires are pairs with every fault at every request") {
  for (const Way way : all_ways) {
    const std::size_t requests = play(way, {});
    REQUIRE(requests > 0);
    for (std::size_t at = 0; at < requests; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        INFO("way " << static_cast<int>(way) << ", " << describe(fault) << " at request " << at);
        play(way, {{at, fault}});
      }
    }
  }
}

TEST_CASE("observer: begins and ends of acquires are pairs if their client ends at any request") {
  for (const Way way : all_ways) {
    const std::size_t requests = play(way, {});
    for (std::size_t at = 0; at < requests; ++at) {
      INFO("way " << static_cast<int>(way) << ", closed at request " << at);
      play(way, {}, at);
    }
  }
}

TEST_CASE("observer: an acquire ends with its context if callbacks run elsewhere") {
  const LeaksAreExpected leaks;
  const Way way = GENERATE(Way::by_itself, Way::cohort, Way::kept, Way::readers);
  World world;
  auto other = world.client("other");
  InterProcessMutex others{*other, "/lock"};
  InterProcessReadWriteLock writers{*other, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) {
    way == Way::readers ? writers.write().async_acquire(done) : others.async_acquire(done);
  });
  Lease held = std::move(acquired.result());

  asio::io_context callbacks;
  auto context = std::make_unique<asio::io_context>(1);
  const auto records = std::make_shared<Records>();
  ClientOptions options = world.options("mine");
  options.observer = records;
  options.callback_executor = callbacks.get_executor();
  auto mine = std::make_unique<Client>(context->get_executor(), options);
  while (!is_connected(mine->connection_state())) context->run_one_for(World::limit);
  // A lock object must not be destroyed after its context.
  auto* const mutex =
      new InterProcessMutex{*mine, "/lock", way == Way::readers ? LockOptions{} : options_of(way)};
  auto* const both = new InterProcessReadWriteLock{
      *mine, "/lock", way == Way::readers ? options_of(way) : LockOptions{}};
  const auto begin = [&](auto& lock) {
    lock.async_acquire(asio::bind_executor(context->get_executor(), [](error_code, Lease) {}));
  };
  for (int i = 0; i < 2; ++i) {
    if (way == Way::readers) {
      begin(both->read());
    } else {
      begin(*mutex);
    }
  }
  while (context->run_one_for(20ms) != 0) {
  }
  callbacks.poll();
  CHECK(records->open.size() == 2);
  mine.reset();
  context.reset();
  callbacks.restart();
  callbacks.poll();
  CHECK(records->unpaired == 0);
  CHECK(records->open.empty());
  CHECK(records->error == Errc::closed);
  held.release();
  CHECK(world.run_until_idle(*other));
}

}  // namespace
}  // namespace custodian::tests::acquire_pairs_test
