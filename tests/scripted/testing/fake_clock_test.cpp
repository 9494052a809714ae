// A clock that the test moves: leases and sessions to the nanosecond, and suspended processes.

#include <atomic>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_clock_test {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;

constexpr auto lock_path = "/lock";
/// The timeout of all sessions here; other options have the library's defaults.
constexpr auto timeout = 10s;
/// How long a lease lasts after its latest proof.
constexpr auto clock_of_a_lease = 9s;

/// A holder and another client, on one clock.
struct Timed {
  explicit Timed(LeaseOptions terms = {}, std::chrono::milliseconds patience = 20s)
      : clock{std::make_shared<FakeClock>(patience)}, world{clock} {
    client = world.client(options("holder"));
    mutex.emplace(*client, lock_path, LockOptions{.lease = terms});
    other = world.client(options("other"));
    others_mutex.emplace(*other, lock_path);
  }
  ClientOptions options(const std::string& name) {
    ClientOptions options = world.options(name);
    options.session_timeout = timeout;
    return options;
  }
  Lease acquire() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  /// Another client queues for the lock. Returns the moment of its grant, once it is granted.
  std::shared_ptr<std::optional<BootClock::time_point>> other_queues() {
    auto granted = std::make_shared<std::optional<BootClock::time_point>>();
    bool waits = false;
    AcquireOptions patient;
    patient.on_position = [&waits](auto&&...) { waits = true; };
    others_mutex->async_acquire(patient, [this, granted](error_code error, Lease lease) {
      if (error) return;
      *granted = clock->now();
      others_lease = std::move(lease);
    });
    REQUIRE(world.run_until([&] { return waits || *granted; }));
    return granted;
  }
  void advance(std::chrono::nanoseconds time) { clock->advance(time, world.context); }
  /// Moves the clock until the condition is true. Real time passes, too: attempts are repeated in
  /// real time, and after a standstill of everybody a lease needs several.
  bool pass_until(const std::function<bool()>& condition) {
    for (const Deadline end{World::limit}; !condition();) {
      if (end.passed()) return false;
      advance(1s);
      world.context.run_for(2ms);
    }
    return true;
  }
  /// Releases the lease, and checks that no client leaves anything behind.
  void end() {
    others_lease.release();
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(client));
    CHECK(world.end(other));
    CHECK(world.ensemble.children(lock_path).empty());
  }

  std::shared_ptr<FakeClock> clock;
  World world;
  std::unique_ptr<Client> client;
  std::unique_ptr<Client> other;
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;
  Lease others_lease;
};

TEST_CASE("fake clock: who is cut off is suspended, and lost at the nanosecond", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  CHECK(lease.remaining() == clock_of_a_lease);
  timed.world.ensemble.cut_off("holder");
  timed.advance(0ns);
  CHECK(lease.state() == LeaseState::suspended);
  timed.advance(clock_of_a_lease - 1ns);
  CHECK(lease.state() == LeaseState::suspended);
  CHECK(lease.remaining() == 1ns);
  CHECK_FALSE(lease.lost().stop_requested());
  timed.advance(1ns);
  CHECK(lease.lost().stop_requested());
  CHECK(lease.state() == LeaseState::lost);
  CHECK(lease.loss_reason() == LossReason::lease_expired);
  CHECK(lease.remaining() == 0ns);
  lease.release();
  timed.world.ensemble.let_in("holder");
  timed.end();
}

TEST_CASE("fake clock: the servers end a session after its timeout, and its holder knows before",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const std::int64_t session = timed.client->session().id;
  const auto granted = timed.other_queues();
  std::optional<BootClock::time_point> lost;
  const std::stop_callback on_lost{lease.lost(), [&] { lost = timed.clock->now(); }};
  const auto begin = timed.clock->now();
  timed.world.ensemble.cut_off("holder");
  timed.advance(timeout - 1ns);
  CHECK(lost == begin + clock_of_a_lease);
  CHECK_FALSE(*granted);
  timed.advance(1ns);
  CHECK(*granted == begin + timeout);
  CHECK(timed.others_lease.state() == LeaseState::held);
  // Connected again, the holder learns that its session has expired.
  timed.world.ensemble.let_in("holder");
  timed.advance(0ns);
  CHECK(is_connected(timed.client->connection_state()));
  CHECK(timed.client->session().id != session);
  CHECK(lease.state() == LeaseState::lost);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: however long the step, all of it happens in its order", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  std::optional<BootClock::time_point> lost;
  const std::stop_callback on_lost{lease.lost(), [&] { lost = timed.clock->now(); }};
  const auto begin = timed.clock->now();
  timed.world.ensemble.cut_off("holder");
  timed.advance(1min);
  CHECK(lost == begin + clock_of_a_lease);
  CHECK(*granted == begin + timeout);
  CHECK(timed.clock->now() == begin + 1min);
  lease.release();
  timed.world.ensemble.let_in("holder");
  timed.end();
}

TEST_CASE("fake clock: what a client does at the last moment is in time", "[fake_clock]") {
  Timed timed;
  const std::int64_t session = timed.other->session().id;
  const auto executor = timed.world.context.get_executor();
  const auto alarm =
      timed.clock->make_alarm({executor, executor}, [&] { timed.world.ensemble.let_in("other"); });
  alarm->set(timed.clock->now() + timeout);
  timed.world.ensemble.cut_off("other");
  timed.advance(1min);
  CHECK(timed.other->session().id == session);
  timed.end();
}

TEST_CASE("fake clock: who is connected keeps a lease for hours", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto sessions = timed.world.ensemble.sessions();
  timed.advance(3h);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.remaining() > timeout / 2);
  CHECK(lease.remaining() <= clock_of_a_lease);
  CHECK(timed.world.ensemble.sessions() == sessions);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a connection that is cut is back before time passes", "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  timed.world.ensemble.disconnect(timed.client->session().id);
  timed.advance(1min);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a lease with a maximum time ends at its end", "[fake_clock]") {
  Timed timed{{.hold_at_most = 30s}};
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  timed.advance(30s - 1ns);
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.remaining() == 1ns);
  timed.advance(1ns);
  CHECK(lease.loss_reason() == LossReason::held_too_long);
  CHECK(lease.lost().stop_requested());
  CHECK(*granted == timed.clock->now());
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a server that falls silent is left in time to keep the lease",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const std::int64_t session = timed.client->session().id;
  timed.world.ensemble.set_fault_plan(std::make_shared<FaultsAt>(
      "holder", std::vector<std::pair<std::size_t, Fault>>{{0, {.kind = FaultKind::delay}}}));
  std::vector<ConnectionState> states;
  const Subscription listening =
      timed.client->on_connection_state([&](ConnectionState state) { states.push_back(state); });
  timed.advance(timeout);
  CHECK(states == std::vector{ConnectionState::suspended, ConnectionState::reconnected});
  CHECK(lease.state() == LeaseState::held);
  CHECK(timed.client->session().id == session);
  lease.release();
  timed.end();
}

TEST_CASE("fake clock: a session that is given up lives while its holder does not let go",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  const auto granted = timed.other_queues();
  timed.world.ensemble.cut_off("holder");
  timed.advance(clock_of_a_lease);
  CHECK(lease.state() == LeaseState::lost);
  timed.world.ensemble.let_in("holder");
  timed.advance(5min);
  CHECK(lease.state() == LeaseState::lost);
  CHECK_FALSE(*granted);
  lease.release();
  timed.advance(0ns);
  CHECK(*granted);
  timed.end();
}

TEST_CASE("fake clock: a process that stood still for less than its lease keeps it",
          "[fake_clock]") {
  Timed timed;
  Lease lease = timed.acquire();
  // There is time for two more beats, a touch interval apart.
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
                                     // Slow on purpose: advance() must wait for this callback.
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

/// Where a process is suspended: before a request is sent, or before its answer is read.
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
    // The node of a lease that reports `held` exists.
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
}  // namespace custodian::tests::fake_clock_test
