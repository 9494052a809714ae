// The arguments that a selector passes to its function, and waits for a latch's leadership.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::election_calls_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto path = "/election";

/// A selector whose function runs until it is asked to stop.
struct Turns {
  World world;
  std::unique_ptr<Client> client = world.client("client");
  int begun = 0;
  int ended = 0;
  bool throws = false;
  std::string node;
  std::vector<std::string> thrown;
  std::optional<LeaderSelector> selector;

  explicit Turns(LeaderSelectorOptions::Requeue requeue = {}) {
    LeaderSelectorOptions options;
    options.requeue = requeue;
    options.executor = world.context.get_executor();
    options.on_exception = [this](const std::exception_ptr& exception) {
      try {
        std::rethrow_exception(exception);
      } catch (const std::exception& what) {
        thrown.emplace_back(what.what());
      }
    };
    selector.emplace(
        *client, path,
        [this](Lease leadership, std::stop_token stop) {
          return lead(std::move(leadership), stop);
        },
        std::move(options));
    selector->start();
    REQUIRE(world.run_until([&] { return begun == 1; }));
  }
  ~Turns() {
    selector.reset();
    CHECK(world.end(client));
    CHECK(begun == ended);
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  asio::awaitable<void> lead(Lease leadership, std::stop_token stop) {
    ++begun;
    node = leadership.node();
    asio::steady_timer until_stopped{world.context, 24h};
    const std::stop_callback on_stop{stop, [&] { until_stopped.cancel(); }};
    if (!stop.stop_requested()) {
      co_await until_stopped.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    ++ended;
    if (throws) throw std::runtime_error{"the leader has failed"};
  }
  [[nodiscard]] bool ends(int turns) {
    return world.run_until([&] { return ended == turns; });
  }
  [[nodiscard]] bool begins(int turns) {
    return world.run_until([&] { return begun == turns; });
  }
};

TEST_CASE("election calls: a selector's function is interrupted, and has another turn on request") {
  Turns turns;
  CHECK(turns.selector->has_leadership());
  CHECK(turns.selector->interrupt_leadership());
  REQUIRE(turns.ends(1));
  REQUIRE(turns.world.run_until([&] { return turns.world.ensemble.children(path).empty(); }));
  CHECK_FALSE(turns.selector->has_leadership());
  CHECK_FALSE(turns.selector->interrupt_leadership());
  turns.world.settle();
  CHECK(turns.begun == 1);

  CHECK(turns.selector->requeue());
  CHECK_FALSE(turns.selector->requeue());
  REQUIRE(turns.begins(2));
  CHECK(turns.selector->has_leadership());
  // A request during the turn is one for the turn after it.
  CHECK(turns.selector->requeue());
  CHECK(turns.selector->interrupt_leadership());
  REQUIRE(turns.begins(3));
}

TEST_CASE("election calls: a selector that always stands again does so after each turn") {
  Turns turns{LeaderSelectorOptions::Requeue::always};
  for (int turn = 1; turn < 4; ++turn) {
    CHECK(turns.selector->interrupt_leadership());
    REQUIRE(turns.begins(turn + 1));
    CHECK(turns.ended == turn);
  }
}

TEST_CASE("election calls: a selector's function is asked to stop when its node is deleted") {
  Turns turns;
  turns.world.remove(turns.node);
  REQUIRE(turns.ends(1));
  CHECK_FALSE(turns.selector->has_leadership());
}

TEST_CASE("election calls: a selector's function is asked to stop by close(), and is joined") {
  Turns turns;
  turns.selector->close();
  CHECK_FALSE(turns.ended == 1);
  const auto joined = run<>(turns.world, [&](auto done) { turns.selector->async_join(done); });
  CHECK((joined.arrived() && !joined.error()));
  CHECK(turns.ended == 1);
  CHECK_FALSE(turns.selector->requeue());
}

TEST_CASE("election calls: a selector's function is asked to stop when its client closes") {
  Turns turns;
  // The client waits for its leases, and so for the function.
  Outcome<bool> closed;
  turns.client->async_close(Deadline{1h}, closed.handler());
  REQUIRE(turns.ends(1));
  REQUIRE(turns.world.run_until_arrived(closed));
  CHECK_FALSE(turns.selector->has_leadership());
  CHECK_FALSE(turns.selector->requeue());
}

TEST_CASE("election calls: the exception of a selector's function is reported, and ends its turn") {
  Turns turns;
  turns.throws = true;
  CHECK(turns.selector->interrupt_leadership());
  REQUIRE(turns.world.run_until([&] { return turns.thrown.size() == 1; }));
  CHECK(turns.thrown.front() == "the leader has failed");
  REQUIRE(turns.world.run_until([&] { return turns.world.ensemble.children(path).empty(); }));
  turns.throws = false;
  CHECK(turns.selector->requeue());
  REQUIRE(turns.begins(2));
}

TEST_CASE("election calls: a join that is cancelled ends, while the selector goes on") {
  Turns turns;
  asio::cancellation_signal cancel;
  Outcome<> joined;
  turns.selector->async_join(asio::bind_cancellation_slot(cancel.slot(), joined.handler()));
  turns.world.settle();
  CHECK_FALSE(joined.arrived());
  cancel.emit(asio::cancellation_type::total);
  REQUIRE(turns.world.run_until_arrived(joined));
  CHECK(joined.error() == asio::error::operation_aborted);
  CHECK(turns.selector->has_leadership());
}

// -- The waits for a latch ------------------------------------------------------------------------

/// A latch behind a leader of another client.
struct Behind {
  World world;
  std::unique_ptr<Client> other = world.client("other");
  std::unique_ptr<Client> client = world.client("client");
  std::optional<LeaderLatch> leading{std::in_place, *other, path};
  std::optional<LeaderLatch> latch{std::in_place, *client, path};

  Behind() {
    leading->start();
    REQUIRE(world.run_until([&] { return leading->has_leadership(); }));
    latch->start();
  }
  ~Behind() {
    latch.reset();
    leading.reset();
    CHECK(world.end(client));
    CHECK(world.end(other));
  }
  Behind(const Behind&) = delete;
  Behind& operator=(const Behind&) = delete;
};

TEST_CASE("election calls: a wait for a latch ends with its time, without an error") {
  Behind behind;
  const auto late =
      run<Lease>(behind.world, [&](auto done) { behind.latch->async_wait_for(brief_limit, done); });
  REQUIRE(late.arrived());
  CHECK_FALSE(late.error());
  CHECK(late.result().state() == LeaseState::released);
  const auto at_once =
      run<Lease>(behind.world, [&](auto done) { behind.latch->async_wait_for(0s, done); });
  REQUIRE(at_once.arrived());
  CHECK_FALSE(at_once.error());
}

TEST_CASE(
    "election calls: a wait for a latch ends with its leadership, its close, or its caller's") {
  Behind behind;
  const auto wait = [&] {
    Outcome<Lease> outcome;
    behind.latch->async_wait(outcome.handler());
    behind.world.settle();
    CHECK_FALSE(outcome.arrived());
    return outcome;
  };
  asio::cancellation_signal cancel;
  Outcome<Lease> cancelled;
  behind.latch->async_wait(asio::bind_cancellation_slot(cancel.slot(), cancelled.handler()));
  behind.world.settle();
  CHECK_FALSE(cancelled.arrived());
  cancel.emit(asio::cancellation_type::total);
  REQUIRE(behind.world.run_until_arrived(cancelled));
  CHECK(cancelled.error() == asio::error::operation_aborted);

  const Outcome<Lease> closed = wait();
  behind.latch->close();
  REQUIRE(behind.world.run_until_arrived(closed));
  CHECK(closed.error() == Errc::closed);

  behind.latch->start();
  Outcome<Lease> leads = wait();
  behind.leading->close();
  REQUIRE(behind.world.run_until_arrived(leads));
  CHECK_FALSE(leads.error());
  CHECK(leads.result().state() == LeaseState::held);
  // A leader's wait has its lease at once.
  auto again = run<Lease>(behind.world, [&](auto done) { behind.latch->async_wait(done); });
  CHECK(again.result().token() == leads.result().token());
}

}  // namespace
}  // namespace custodian::tests::election_calls_test
