// Late creates of a session that the client has given up, while a lost lease keeps that session
// alive: their nodes are deleted, so they block the lock only for a moment.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/client/late_creates.hpp"
#include "scripted/held.hpp"
#include "support/catch.hpp"

namespace custodian::tests::late_creates_lost_session_test {
namespace {

namespace asio = boost::asio;

using late_creates::LateAt;
using late_creates::soon;

/// A client that holds one lock, and has sent the create of its node in a second lock. Its
/// connection is cut and its lease clock runs out, while that create is still in the network.
struct GivenUp {
  static constexpr std::chrono::milliseconds timeout{2000};
  static constexpr auto second_path = "/b";

  GivenUp() {
    world().make(second_path);
    session = held.client->session().id;
    wanted.emplace(*held.client, second_path);
    others.emplace(*held.other, second_path);
    plan->on_late = [this] { asio::post(world().context, [this] { world().ensemble.stop(); }); };
    world().ensemble.set_fault_plan(plan);
  }

  [[nodiscard]] World& world() { return held.world; }

  void acquire(asio::cancellation_slot slot = {}) {
    wanted->async_acquire(asio::bind_cancellation_slot(slot, acquired.handler()));
    REQUIRE(world().run_until([&] { return held.lease.state() == LeaseState::lost; }));
  }
  void heal() {
    world().ensemble.start();
    REQUIRE(world().run_until([&] { return is_connected(held.client->connection_state()); }));
    REQUIRE(world().run_until([&] { return world().ensemble.is_connected(session); }));
    REQUIRE(held.client->session().id != session);
    REQUIRE(world().run_until_arrived(acquired));
  }
  /// Lets the other client acquire the second lock, although the lost lease of the first is not
  /// released.
  void let_other_in() {
    const Deadline deadline{soon};
    auto next = Outcome<Lease>{};
    others->async_acquire(next.handler());
    CHECK(world().run_until([&] { return next.arrived() || deadline.passed(); }));
    REQUIRE(next.arrived());
    REQUIRE_FALSE(next.error());
    next.result().release();
    CHECK(world().run_until(
        [&] { return world().ensemble.children(second_path).empty() || deadline.passed(); }));
    CHECK(world().ensemble.children(second_path).empty());
    CHECK(world().ensemble.is_connected(session));
  }
  void end() {
    wanted.reset();
    others.reset();
    held.end();
  }

  std::shared_ptr<LateAt> plan = std::make_shared<LateAt>(0, 0, "holder");
  Held held{{}, timeout};
  std::int64_t session = 0;
  std::optional<InterProcessMutex> wanted;
  std::optional<InterProcessMutex> others;
  Outcome<Lease> acquired;
};

TEST_CASE("late: a create of a session that was given up makes no lock wait", "[timed]") {
  GivenUp given_up;
  given_up.acquire();
  given_up.heal();
  REQUIRE_FALSE(given_up.acquired.error());
  const std::string node = given_up.acquired.result().node();
  // The session lasts until the lost lease is released, so the late create may be applied until
  // then.
  const bool much_later = GENERATE(false, true);
  if (much_later) given_up.held.pass(2 * GivenUp::timeout);
  CHECK(given_up.world().ensemble.apply_late_requests() == 1);
  REQUIRE(given_up.world().run_until(
      [&] { return given_up.world().ensemble.children(GivenUp::second_path).size() == 1; }));
  CHECK(given_up.world().ensemble.exists(node));
  given_up.acquired.result().release();
  given_up.let_other_in();
  given_up.end();
}

TEST_CASE("late: a create of a session that was given up, and of a caller who gave up, too",
          "[timed]") {
  GivenUp given_up;
  asio::cancellation_signal signal;
  given_up.acquire(signal.slot());
  signal.emit(asio::cancellation_type::all);
  given_up.heal();
  CHECK(given_up.acquired.error() == asio::error::operation_aborted);
  REQUIRE(given_up.world().run_until_idle(*given_up.held.client));
  CHECK(given_up.world().ensemble.apply_late_requests() == 1);
  given_up.let_other_in();
  given_up.end();
}

}  // namespace
}  // namespace custodian::tests::late_creates_lost_session_test
