// A lock that its process passes on among its own waiters (HandOff::batch).

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <deque>
#include <optional>

#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/inter_process_read_write_lock.hpp"
#include "custodian/recipes/inter_process_semaphore.hpp"
#include "custodian/recipes/revoke.hpp"
#include "held.hpp"
#include "support/catch.hpp"
#include "world.hpp"

namespace custodian::tests {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// A lock object of the client "mine" that passes the lock on, and one of "other" that does not.
class Batches {
 public:
  explicit Batches(int passes = 2)
      : mutex{std::in_place, *mine, "/lock", LockOptions{.hand_off = HandOff::batch(passes)}},
        others_mutex{std::in_place, *other, "/lock"} {}
  ~Batches() {
    CHECK(world.run_until_idle(*mine));
    CHECK(world.run_until_idle(*other));
    CHECK(nodes() == 0);
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }

  using Place = Outcome<Lease>;

  Place queue() {
    Place place;
    mutex->async_acquire(place.handler());
    world.settle();
    return place;
  }
  Place queue_other() {
    Place place;
    others_mutex->async_acquire(place.handler());
    world.settle();
    return place;
  }
  Place hold() {
    Place place = queue();
    REQUIRE(place.arrived());
    REQUIRE_FALSE(place.error());
    return place;
  }
  [[nodiscard]] std::size_t nodes() const { return world.ensemble.children("/lock").size(); }
  /// True if it holds the lock when all is done that can be done.
  bool holds(Place& place) {
    world.settle();
    return place.arrived() && !place.error() && place.result().state() == LeaseState::held;
  }

  World world;
  std::unique_ptr<Client> mine = world.client("mine");
  std::unique_ptr<Client> other = world.client("other");
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;
};

TEST_CASE("batch: the lock passes on without a word to the servers") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  auto third = batches.queue();
  const FencingToken token = first.result().token();
  const std::string node = first.result().node();
  batches.world.ensemble.clear_history();
  first.result().release();
  REQUIRE(batches.holds(second));
  CHECK_FALSE(third.arrived());
  CHECK(second.result().token() > token);
  CHECK(second.result().token() == FencingToken{token.epoch, token.value, 1});
  CHECK(second.result().node() == node);
  second.result().release();
  REQUIRE(batches.holds(third));
  CHECK(third.result().token() == FencingToken{token.epoch, token.value, 2});
  CHECK(batches.world.ensemble.history().empty());
  third.result().release();
}

TEST_CASE("batch: after so many passes it is the turn of whoever came first of all") {
  Batches batches{1};
  auto first = batches.hold();
  auto others = batches.queue_other();
  std::deque<Batches::Place> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(batches.queue());
  first.result().release();
  CHECK(batches.holds(waiting[0]));
  waiting[0].result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(waiting[1].arrived());
  others.result().release();
  REQUIRE(batches.holds(waiting[1]));
  CHECK(waiting[1].result().token() > others.result().token());
  CHECK(waiting[1].result().token().grant == 0);
  waiting[1].result().release();
  CHECK(batches.holds(waiting[2]));
  waiting[2].result().release();
}

TEST_CASE("batch: two nodes stand for any number of those who wait, and one for the holder alone") {
  Batches batches{1};
  auto first = batches.hold();
  CHECK(batches.nodes() == 1);
  std::deque<Batches::Place> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(batches.queue());
  CHECK(batches.nodes() == 2);
  first.result().release();
  for (auto& each : waiting) {
    REQUIRE(batches.holds(each));
    CHECK(batches.nodes() <= 2);
    each.result().release();
  }
  batches.world.settle();
  CHECK(batches.nodes() == 0);
}

TEST_CASE("batch: who holds a lease of the last holder learns nothing of the next one's") {
  Batches batches;
  auto first = batches.hold();
  const std::stop_token lost = first.result().lost();
  std::vector<LeaseState> told;
  const Subscription listening =
      first.result().on_state([&](LeaseState state) { told.push_back(state); });
  Outcome<> loss;
  first.result().async_wait_lost(loss.handler());
  auto second = batches.queue();
  first.result().release();
  REQUIRE(batches.holds(second));
  REQUIRE(batches.world.run_until_arrived(loss));
  CHECK(loss.error() == asio::error::operation_aborted);
  batches.world.ensemble.expire(batches.mine->session().id);
  REQUIRE(batches.world.run_until([&] { return second.result().lost().stop_requested(); }));
  CHECK_FALSE(lost.stop_requested());
  CHECK(told.empty());
}

TEST_CASE("batch: each lease on a hold keeps the lock") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  Lease shared = first.result().share();
  first.result().release();
  CHECK_FALSE(batches.holds(second));
  shared.release();
  CHECK(batches.holds(second));
  CHECK(second.result().hold_count() == 1);
  second.result().release();
}

TEST_CASE("batch: a lost node is not passed on, and who lets go of it late lets nobody in") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  batches.world.ensemble.expire(batches.mine->session().id);
  REQUIRE(batches.world.run_until([&] { return first.result().state() == LeaseState::lost; }));
  REQUIRE(batches.world.run_until_arrived(second));
  auto third = batches.queue();
  CHECK(second.result().token().value > first.result().token().value);
  first.result().release();
  CHECK_FALSE(batches.holds(third));
  second.result().release();
  CHECK(batches.holds(third));
  third.result().release();
}

TEST_CASE("batch: a node of a connection that is gone is not passed on") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  batches.world.ensemble.stop();
  REQUIRE(batches.world.run_until([&] { return first.result().state() == LeaseState::suspended; }));
  const FencingToken token = first.result().token();
  first.result().release();
  CHECK_FALSE(second.arrived());
  batches.world.ensemble.start();
  REQUIRE(batches.world.run_until_arrived(second));
  CHECK(second.result().token().value > token.value);
  second.result().release();
}

TEST_CASE("batch: a node whose lease is near its end is not passed on", "[timed]") {
  constexpr auto longer = 2 * timeout;
  Held held{{}, longer};
  held.lease.release();
  {
    InterProcessMutex mutex{*held.client, lock_path, {.hand_off = HandOff::batch(8)}};
    auto first = run<Lease>(held.world, [&](auto done) { mutex.async_acquire(done); });
    Outcome<Lease> second;
    mutex.async_acquire(second.handler());
    const FencingToken token = first.result().token();
    held.world.ensemble.stop();
    held.pass(1300ms);
    REQUIRE(first.result().state() == LeaseState::suspended);
    std::chrono::nanoseconds rest{0};
    // The connection is there again, and nothing was answered on it yet.
    const Subscription listening = first.result().on_state([&](LeaseState state) {
      if (state != LeaseState::held || !first.result()) return;
      rest = first.result().remaining();
      first.result().release();
    });
    held.world.ensemble.start();
    REQUIRE(held.world.run_until_arrived(second));
    REQUIRE_FALSE(second.error());
    CHECK(rest > 0ns);
    CHECK(rest < longer / 3);
    CHECK(second.result().token().value > token.value);
    CHECK(second.result().remaining() > longer / 3);
    second.result().release();
  }
  held.end();
}

TEST_CASE("batch: who is let in just when the connection fails is told") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  first.result().release();
  REQUIRE(batches.holds(second));
  std::vector<LeaseState> told;
  const Subscription listening =
      second.result().on_state([&](LeaseState state) { told.push_back(state); });
  batches.world.ensemble.stop();
  REQUIRE(batches.world.run_until([&] { return !told.empty(); }));
  CHECK(told.front() == LeaseState::suspended);
  batches.world.ensemble.start();
  REQUIRE(batches.world.run_until([&] { return told.size() == 2; }));
  CHECK(told.back() == LeaseState::held);
  second.result().release();
}

TEST_CASE("batch: the node is given up when somebody asks its holder to") {
  Batches batches;
  auto first = batches.hold();
  auto others = batches.queue_other();
  auto second = batches.queue();
  bool asked = false;
  const Subscription listening = first.result().make_revocable([&] { asked = true; });
  const auto asks = run<bool>(
      batches.world, [&](auto done) { async_revoke(*batches.other, first.result().node(), done); });
  CHECK(asks.result());
  REQUIRE(batches.world.run_until([&] { return asked; }));
  first.result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: a writer that reads besides lets no other writer in") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock", {.hand_off = HandOff::batch(8)}};
    auto writer = run<Lease>(world, [&](auto done) { lock.write().async_acquire(done); });
    Outcome<Lease> next;
    lock.write().async_acquire(next.handler());
    world.settle();
    auto reader =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writer.result(), done); });
    REQUIRE_FALSE(reader.error());
    writer.result().release();
    world.settle();
    CHECK_FALSE(next.arrived());
    CHECK(reader.result().state() == LeaseState::held);
    reader.result().release();
    REQUIRE(world.run_until_arrived(next));
    CHECK_FALSE(next.error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("batch: readers stand in the queue themselves, and writers pass on before them") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock", {.hand_off = HandOff::batch(1)}};
    auto writer = run<Lease>(world, [&](auto done) { lock.write().async_acquire(done); });
    Outcome<Lease> reader;
    lock.read().async_acquire(reader.handler());
    world.settle();
    Outcome<Lease> second;
    Outcome<Lease> third;
    lock.write().async_acquire(second.handler());
    lock.write().async_acquire(third.handler());
    world.settle();
    writer.result().release();
    world.settle();
    CHECK(second.arrived());
    CHECK_FALSE(reader.arrived());
    second.result().release();
    REQUIRE(world.run_until_arrived(reader));
    CHECK_FALSE(third.arrived());
    reader.result().release();
    REQUIRE(world.run_until_arrived(third));
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("batch: an acquire that asks for more than the lock stands in the queue itself") {
  Batches batches;
  auto first = batches.hold();
  AcquireOptions options;
  SECTION("its place") {
    options.on_position = [](auto&&...) {};
  }
  SECTION("terms of its own") { options.lease.hold_at_most = 1h; }
  SECTION("another loss policy") { options.lease.loss_policy = LossPolicy::on_suspended; }
  SECTION("to fail with its session") { options.requeue = RequeuePolicy::fail; }
  SECTION("to be told of a new place") {
    options.on_requeued = [] {};
  }
  Batches::Place itself;
  batches.mutex->async_acquire(options, itself.handler());
  auto waits = batches.queue();
  batches.world.settle();
  CHECK(batches.nodes() == 3);
  first.result().release();
  CHECK(batches.holds(waits));
  CHECK_FALSE(itself.arrived());
  waits.result().release();
  CHECK(batches.holds(itself));
  CHECK(itself.result().token().grant == 0);
  itself.result().release();
}

TEST_CASE("batch: a try does not wait") {
  Batches batches;
  auto first = batches.hold();
  Outcome<AcquireResult> tried;
  batches.mutex->async_try_acquire(tried.handler());
  REQUIRE(batches.world.run_until_arrived(tried));
  CHECK_FALSE(tried.error());
  CHECK_FALSE(tried.result());
  first.result().release();
}

TEST_CASE("batch: who gives up ends alone") {
  Batches batches;
  auto first = batches.hold();
  asio::cancellation_signal signal;
  Batches::Place given_up;
  batches.mutex->async_acquire(asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  auto last = batches.queue();
  signal.emit(asio::cancellation_type::total);
  REQUIRE(batches.world.run_until_arrived(given_up));
  CHECK(given_up.error() == asio::error::operation_aborted);
  CHECK_FALSE(last.arrived());
  first.result().release();
  CHECK(batches.holds(last));
  last.result().release();
}

TEST_CASE("batch: when the last one gives up that waits for others, no node is left") {
  Batches batches;
  auto others = batches.queue_other();
  REQUIRE(batches.holds(others));
  asio::cancellation_signal signal;
  Batches::Place given_up;
  batches.mutex->async_acquire(asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  batches.world.settle();
  CHECK(batches.nodes() == 2);
  signal.emit(asio::cancellation_type::total);
  REQUIRE(batches.world.run_until_arrived(given_up));
  CHECK(batches.world.run_until([&] { return batches.nodes() == 1; }));
  // Whoever comes while that is under way is served all the same.
  auto next = batches.queue();
  others.result().release();
  CHECK(batches.holds(next));
  next.result().release();
}

TEST_CASE("batch: who is late is told who was in the way") {
  Batches batches;
  Batches::Place holder;
  SECTION("of the same process") { holder = batches.hold(); }
  SECTION("of another one") {
    holder = batches.queue_other();
    REQUIRE(batches.holds(holder));
  }
  Outcome<AcquireResult> late;
  Outcome<AcquireResult> later;
  batches.mutex->async_try_acquire_for(40ms, later.handler());
  batches.mutex->async_try_acquire_for(20ms, late.handler());
  REQUIRE(batches.world.run_until_arrived(late));
  CHECK_FALSE(later.arrived());
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  REQUIRE(late.result().blocked_by);
  CHECK(late.result().blocked_by->node == holder.result().node());
  REQUIRE(batches.world.run_until_arrived(later));
  CHECK_FALSE(later.error());
  holder.result().release();
}

TEST_CASE("batch: who is late and has not even stood in the queue has failed") {
  Batches batches;
  batches.world.ensemble.stop();
  batches.world.settle();
  Outcome<AcquireResult> late;
  batches.mutex->async_try_acquire_for(20ms, late.handler());
  REQUIRE(batches.world.run_until_arrived(late));
  CHECK(late.error() == Errc::deadline_exceeded);
  batches.world.ensemble.start();
}

TEST_CASE("batch: who is in time is not late, and no alarm is left") {
  Batches batches;
  auto first = batches.hold();
  Outcome<AcquireResult> waits;
  batches.mutex->async_try_acquire_for(1h, waits.handler());
  batches.world.settle();
  first.result().release();
  REQUIRE(batches.world.run_until_arrived(waits));
  CHECK(waits.result());
  waits.result().lease.release();
}

TEST_CASE("batch: a node that somebody deletes by hand fails one of those who wait") {
  Batches batches;
  auto others = batches.queue_other();
  REQUIRE(batches.holds(others));
  auto first = batches.queue();
  auto second = batches.queue();
  for (const auto& name : batches.world.ensemble.children("/lock")) {
    if ("/lock/" + name != others.result().node()) batches.world.remove("/lock/" + name);
  }
  REQUIRE(batches.world.run_until_arrived(first));
  CHECK(first.error() == Errc::node_deleted);
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: an end of the client is an end for all who wait") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  auto third = batches.queue();
  Outcome<bool> closed;
  batches.mine->async_close(1s, closed.handler());
  REQUIRE(batches.world.run_until([&] { return second.arrived() && third.arrived(); }));
  CHECK(second.error() == Errc::closed);
  CHECK(third.error() == Errc::closed);
  first.result().release();
  REQUIRE(batches.world.run_until_arrived(closed));
  auto fourth = batches.queue();
  REQUIRE(batches.world.run_until_arrived(fourth));
  CHECK(fourth.error() == Errc::closed);
}

TEST_CASE("batch: who waits is served, and passes on, when the lock object is gone") {
  Batches batches;
  auto first = batches.hold();
  auto second = batches.queue();
  auto third = batches.queue();
  batches.mutex.reset();
  first.result().release();
  REQUIRE(batches.holds(second));
  second.result().release();
  REQUIRE(batches.holds(third));
  third.result().release();
}

TEST_CASE("batch: without a pass it is strict") {
  Batches batches{0};
  auto first = batches.hold();
  auto others = batches.queue_other();
  auto second = batches.queue();
  first.result().release();
  CHECK(batches.holds(others));
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: what makes no sense is refused where it is asked for") {
  Batches batches;
  const auto refused = [](const error_code& error) { return error == Errc::invalid_argument; };
  CHECK_THROWS_MATCHES(
      (InterProcessMutex{*batches.mine, "/lock", {.hand_off = HandOff::batch(-1)}}), Error,
      Catch::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
  CHECK_THROWS_MATCHES(
      (InterProcessMutex{
          *batches.mine, "/lock", {.lease = {.hold_at_most = 1s}, .hand_off = HandOff::batch(1)}}),
      Error, Catch::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
  CHECK_THROWS_MATCHES(
      (InterProcessSemaphore{*batches.mine, "/lock", 2, {.hand_off = HandOff::batch(1)}}), Error,
      Catch::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
}

}  // namespace
}  // namespace custodian::tests
