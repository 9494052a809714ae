// A lock is granted only when its client is known to have been in touch with a quorum recently.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "scripted/held.hpp"

namespace custodian::tests::grant_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("grant: a session that was idle asks a quorum before it takes a lock", "[timed]") {
  Held held;
  held.lease.release();
  // Reads do not renew the lease clock, so it is old by now, and no beat is due at this moment.
  held.pass(timeout * 3 / 4);
  held.world.ensemble.clear_history();
  held.lease = held.acquire();
  CHECK(held.lease.remaining() > timeout / 3);
  // The create was the proof, also for the reads before it: no transaction was needed.
  CHECK(count(held.world.ensemble.history(), "multi") == 0);
  held.pass(timeout / 3);
  CHECK(held.lease.state() == LeaseState::held);
  held.end();
}

TEST_CASE("grant: a waiter asks a quorum when its turn comes long after it came", "[timed]") {
  Held held;
  auto others = run<Lease>(held.world, [&](auto done) {
    held.lease.release();
    held.others_mutex->async_acquire(done);
  });
  REQUIRE(others.arrived());
  Outcome<Lease> waiting;
  held.mutex->async_acquire(waiting.handler());
  held.pass(2 * timeout);
  held.world.ensemble.clear_history();
  others.result().release();
  REQUIRE(held.world.run_until_arrived(waiting));
  REQUIRE_FALSE(waiting.error());
  CHECK(waiting.result().state() == LeaseState::held);
  CHECK(waiting.result().remaining() > timeout / 3);
  const auto history = held.world.ensemble.history();
  CHECK(std::ranges::any_of(history, [](const Submission& each) {
    return each.client == "holder" && each.kind == "multi";
  }));
  held.pass(timeout);
  CHECK(waiting.result().state() == LeaseState::held);
  waiting.result().release();
  held.end();
}

TEST_CASE("grant: a lock whose turn comes late is given only when there is a comfortable rest",
          "[timed]") {
  Held held;
  auto others = run<Lease>(held.world, [&](auto done) {
    held.lease.release();
    held.others_mutex->async_acquire(done);
  });
  REQUIRE(others.arrived());
  Outcome<Lease> waiting;
  held.mutex->async_acquire(waiting.handler());
  // The lease clock still runs, but less than a third of it is left.
  held.pass(timeout * 13 / 20);
  others.result().release();
  REQUIRE(held.world.run_until_arrived(waiting));
  REQUIRE_FALSE(waiting.error());
  CHECK(waiting.result().remaining() > timeout / 3);
  waiting.result().release();
  held.end();
}

TEST_CASE("grant: who wakes up because the one in front gave up is not let in", "[timed]") {
  Held held;
  asio::cancellation_signal signal;
  Outcome<Lease> second;
  Outcome<Lease> third;
  std::size_t ahead = 0;
  AcquireOptions options;
  options.on_position = [&](std::size_t now, const Participant&) { ahead = now; };
  held.others_mutex->async_acquire(options,
                                   asio::bind_cancellation_slot(signal.slot(), second.handler()));
  REQUIRE(held.world.run_until([&] { return ahead == 1; }));
  held.mutex->async_acquire(options, third.handler());
  REQUIRE(held.world.run_until([&] { return ahead == 2; }));
  signal.emit(asio::cancellation_type::all);
  REQUIRE(held.world.run_until([&] { return ahead == 1 || third.arrived(); }));
  CHECK(second.error() == asio::error::operation_aborted);
  CHECK_FALSE(third.arrived());
  held.lease.release();
  REQUIRE(held.world.run_until_arrived(third));
  third.result().release();
  held.end();
}

TEST_CASE("grant: who loses its session while it asks a quorum queues again", "[timed]") {
  class ExpiresOnFirstQuestion final : public testing::FaultPlan {
   public:
    Fault on_submit(const Submission& submission) override {
      if (submission.client != "holder" || submission.kind != "multi") return {};
      return std::exchange(asked, true) ? Fault{} : Fault{.kind = FaultKind::expire_before};
    }
    bool asked = false;
  };
  Held held;
  auto others = run<Lease>(held.world, [&](auto done) {
    held.lease.release();
    held.others_mutex->async_acquire(done);
  });
  REQUIRE(others.arrived());
  bool requeued = false;
  AcquireOptions options;
  options.on_requeued = [&] { requeued = true; };
  Outcome<Lease> waiting;
  held.mutex->async_acquire(options, waiting.handler());
  held.pass(2 * timeout);
  const auto plan = std::make_shared<ExpiresOnFirstQuestion>();
  held.world.ensemble.set_fault_plan(plan);
  others.result().release();
  REQUIRE(held.world.run_until_arrived(waiting));
  CHECK(plan->asked);
  CHECK(requeued);
  REQUIRE_FALSE(waiting.error());
  CHECK(held.world.ensemble.exists(waiting.result().node()));
  waiting.result().release();
  held.end();
}

TEST_CASE("grant: no lock is given on a session that is too short to be told of a loss",
          "[timed]") {
  World world;
  ClientOptions options = world.options("short");
  options.session_timeout = 100ms;
  options.touch_interval = 40ms;
  CHECK_THROWS_AS(Client(world.context.get_executor(), options), Error);
}

}  // namespace
}  // namespace custodian::tests::grant_test
