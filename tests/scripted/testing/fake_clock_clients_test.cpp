// A clock that the test moves, and its clients: suspended processes, threads, and callers of its
// functions.

#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/testing/timed.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_clock_clients_test {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;
using timed::clock_of_a_lease;
using timed::lock_path;
using timed::Timed;
using timed::timeout;

TEST_CASE("fake clock: a process that stood still for less than its lease keeps it",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  // After the jump there is time for two more beats, a touch interval apart.
  timed.clock->jump(7s);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.remaining() == clock_of_a_lease - 7s);
  timed.advance(timeout);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a process that stood still for longer has lost what it held",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto sessions = timed.world.ensemble.sessions();
  timed.clock->jump(timeout);
  // The lease is lost at once, without any handler having run.
  CHECK(lease.state() == LeaseState::lost);
  CHECK(timed.world.ensemble.sessions().empty());
  CHECK(timed.world.ensemble.children(lock_path).empty());
  timed.advance(0ns);
  CHECK(lease.lost().stop_requested());
  CHECK(timed.world.ensemble.sessions().size() == sessions.size());
  CHECK(timed.world.ensemble.sessions() != sessions);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a client that nobody runs is like a process that was stopped",
          "[fake_clock]") {
  Timed timed{{}, 20ms};
  Lease lease = timed.acquire();
  timed.clock->advance(timeout);
  CHECK(lease.state() == LeaseState::lost);
  CHECK_FALSE(lease.lost().stop_requested());
  CHECK(timed.world.ensemble.sessions().empty());
  // The clock waits only once for an executor that stands still, and serves it when it runs again.
  timed.clock->advance(24h);
  timed.advance(1min);
  CHECK(lease.lost().stop_requested());
  CHECK(is_connected(timed.client->connection_state()));
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: with threads of its own a client has reacted when the time has passed",
          "[fake_clock]") {
  const auto clock = std::make_shared<FakeClock>(20s);
  testing::FakeEnsemble ensemble{{.clock = clock}};
  const Client client{ensemble.options("holder")};
  InterProcessMutex mutex{client, lock_path};
  Lease lease = mutex.acquire();
  std::atomic<bool> stopped = false;
  std::atomic<int> states = 0;
  const std::stop_callback on_lost{lease.lost(), [&] {
                                     // The callback is slow on purpose: advance() must wait for it.
                                     std::this_thread::sleep_for(30ms);
                                     stopped = true;
                                   }};
  const Subscription listening = lease.on_state([&](LeaseState) { ++states; });
  clock->advance(10min);
  CHECK(lease.state() == LeaseState::held);
  ensemble.cut_off("holder");
  const auto rest = lease.remaining();
  clock->advance(rest - 1ns);
  CHECK_FALSE(stopped);
  CHECK(states == 1);
  CHECK(lease.state() == LeaseState::suspended);
  clock->advance(1ns);
  CHECK(stopped);
  CHECK(states == 2);
  ensemble.let_in("holder");
}

TEST_CASE("fake clock: it may be moved, and asked, on any thread", "[fake_clock]") {
  const auto clock = std::make_shared<FakeClock>(20s);
  testing::FakeEnsemble ensemble{{.clock = clock}};
  testing::FakeEnsemble second{{.clock = clock}};
  const Client client{ensemble.options("holder")};
  const Client on_second{second.options("holder")};
  InterProcessMutex mutex{client, lock_path};
  InterProcessMutex second_mutex{on_second, lock_path};
  Lease lease = mutex.acquire();
  Lease second_lease = second_mutex.acquire();
  const auto begin = clock->now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { clock->advance(1min); });
    }
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        static_cast<void>(lease.remaining());
        Client passing{ensemble.options("passing")};
      }
    });
    for (int i = 0; i < 3; ++i) threads[static_cast<std::size_t>(i)].join();
  }
  CHECK(clock->now() == begin + 3min);
  CHECK(lease.state() == LeaseState::held);
  CHECK(second_lease.state() == LeaseState::held);
  ensemble.cut_off("holder");
  clock->advance(timeout);
  CHECK(lease.state() == LeaseState::lost);
  CHECK(second_lease.state() == LeaseState::held);
  ensemble.let_in("holder");
}

TEST_CASE("fake clock: a client on another clock than its ensemble's is refused", "[fake_clock]") {
  Timed timed;
  ClientOptions options = timed.options("stray");
  options.clock = nullptr;
  CHECK_THROWS_AS((Client{timed.world.context.get_executor(), options}), Error);
  CHECK_THROWS_AS(Client{options}, Error);
  testing::FakeEnsemble timeless;
  options = timeless.options();
  options.clock = timed.clock;
  CHECK_THROWS_AS(Client{options}, Error);
  timed.end();
}

TEST_CASE("fake clock: what it waits for may not move it, and nobody moves it back",
          "[fake_clock]") {
  Timed timed;
  CHECK_THROWS_AS(timed.advance(-1ns), std::invalid_argument);
  CHECK_THROWS_AS(timed.clock->jump(-1ns), std::invalid_argument);
  const auto begin = timed.clock->now();
  boost::asio::post(timed.world.context, [&] { timed.advance(1s); });
  CHECK_THROWS_AS(timed.advance(1s), std::logic_error);
  CHECK(timed.clock->now() == begin);
  boost::asio::post(timed.world.context, [&] { timed.clock->jump(1s); });
  timed.advance(1s);
  CHECK(timed.clock->now() == begin + 1s);
  timed.end();
}

TEST_CASE("fake clock: a client that waits to be let in keeps its context running",
          "[fake_clock]") {
  const auto clock = std::make_shared<FakeClock>(20s);
  testing::FakeEnsemble ensemble{{.clock = clock}};
  boost::asio::io_context context{1};
  ensemble.cut_off("late");
  std::optional<Client> client{std::in_place, context.get_executor(), ensemble.options("late")};
  context.poll();
  CHECK_FALSE(context.stopped());
  ensemble.let_in("late");
  context.poll();
  CHECK(is_connected(client->connection_state()));
  client.reset();
  context.restart();
  context.run();
}

/// Says where a process is suspended: before a request is sent, or before its answer is read.
enum class Standstill { before_request, before_answer };

TEST_CASE("fake clock: a process may stand still at every step, and nobody holds what is another's",
          "[fake_clock]") {
  const auto where = GENERATE(Standstill::before_request, Standstill::before_answer);
  const auto time = GENERATE(std::chrono::nanoseconds{timeout / 2}, clock_of_a_lease + 0ns,
                             timeout + 0ns, timeout * 3);
  std::size_t steps = 1;
  for (std::size_t step = 0; step < steps; ++step) {
    CAPTURE(step, time.count(), static_cast<int>(where));
    Timed timed;
    const auto plan = std::make_shared<FaultsAt>("holder");
    const auto stand_still = [&](std::size_t at) {
      if (at == step) timed.clock->jump(time);
    };
    if (where == Standstill::before_request) plan->submitted = stand_still;
    if (where == Standstill::before_answer) plan->replying = stand_still;
    timed.world.ensemble.set_fault_plan(plan);

    Outcome<Lease> mine;
    timed.mutex->async_acquire(mine.handler());
    REQUIRE(timed.pass_until([&] { return mine.arrived(); }));
    REQUIRE_FALSE(mine.error());
    Lease lease = std::move(mine.result());
    const auto granted = timed.other_queues();
    // While a lease reports `held`, its node exists.
    const auto nodes = timed.world.ensemble.children(lock_path);
    CHECK((lease.state() != LeaseState::held || nodes.size() == 2));
    CHECK((lease.state() == LeaseState::held) != granted->has_value());
    lease.release();
    CHECK(timed.pass_until([&] { return granted->has_value(); }));
    timed.world.ensemble.set_fault_plan(nullptr);
    steps = std::max(steps, plan->steps());
    timed.end();
  }
  CHECK(steps > 3);
}

}  // namespace
}  // namespace custodian::tests::fake_clock_clients_test
