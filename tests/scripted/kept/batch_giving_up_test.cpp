// Waiters of a cohort (HandOff::cohort) that do not get the lock.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <deque>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/kept/batches.hpp"

namespace custodian::tests::batch_giving_up_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

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
  CHECK(batches.nodes() == 3);  // the next waiter inherits the cancelled waiter's stand-in
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
  auto next = batches.queue();
  others.result().release();
  CHECK(batches.holds(next));
  next.result().release();
}

TEST_CASE("batch: who comes while the line is being left is served all the same") {
  Batches batches;
  auto first = batches.hold();
  asio::cancellation_signal signal;
  Batches::Place given_up;
  batches.mutex->async_acquire(asio::bind_cancellation_slot(signal.slot(), given_up.handler()));
  batches.world.settle();
  Batches::Place next;
  signal.emit(asio::cancellation_type::total);
  asio::post(batches.world.context, [&] { batches.mutex->async_acquire(next.handler()); });
  batches.world.settle();
  CHECK(given_up.arrived());
  CHECK_FALSE(next.arrived());
  first.result().release();
  REQUIRE(batches.holds(next));
  next.result().release();
}

TEST_CASE("batch: when the last one gives up that waits behind its own process, its node goes") {
  Batches batches;
  auto first = batches.hold();
  Outcome<AcquireResult> late;
  batches.mutex->async_try_acquire_for(brief_limit, late.handler());
  batches.world.settle();
  CHECK(batches.nodes() == 2);
  REQUIRE(batches.world.run_until_arrived(late));
  CHECK(batches.world.run_until([&] { return batches.nodes() == 1; }));
  auto second = batches.queue();
  CHECK(batches.nodes() == 2);
  first.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: who is late is told who was in the way") {
  Batches batches;
  Batches::Place holder;
  InterProcessMutex plain{*batches.mine, "/lock"};
  SECTION("of the same process") { holder = batches.hold(); }
  SECTION("of the same client, by a lock object with other options") {
    plain.async_acquire(holder.handler());
    batches.world.settle();
    REQUIRE(batches.holds(holder));
  }
  SECTION("of another one") {
    holder = batches.queue_other();
    REQUIRE(batches.holds(holder));
  }
  Outcome<AcquireResult> late;
  Outcome<AcquireResult> later;
  // The alarm is set first for the later of the two deadlines.
  batches.mutex->async_try_acquire_for(1h, later.handler());
  batches.world.settle();
  batches.mutex->async_try_acquire_for(brief_limit, late.handler());
  REQUIRE(batches.world.run_until_arrived(late));
  CHECK_FALSE(later.arrived());
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  REQUIRE(late.result().blocked_by);
  CHECK(late.result().blocked_by->node == holder.result().node());
  holder.result().release();
  REQUIRE(batches.world.run_until_arrived(later));
  CHECK(later.result());
  later.result().lease.release();
}

TEST_CASE("batch: who is late without a connection is told that there is none") {
  Batches batches;
  batches.world.ensemble.stop();
  batches.world.settle();
  Outcome<AcquireResult> late;
  batches.mutex->async_try_acquire_for(brief_limit, late.handler());
  REQUIRE(batches.world.run_until_arrived(late));
  CHECK_FALSE(late.error());
  CHECK(late.result().reason == NotAcquired::no_connection);
  batches.world.ensemble.start();
}

TEST_CASE("batch: who is in time is not late, and keeps nothing waiting") {
  World world;
  auto client = world.client("mine");
  InterProcessMutex mutex{*client, "/lock", {.hand_off = HandOff::cohort(2)}};
  auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  Outcome<AcquireResult> waits;
  mutex.async_try_acquire_for(1h, waits.handler());
  world.settle();
  first.result().release();
  REQUIRE(world.run_until_arrived(waits));
  CHECK(waits.result());
  waits.result().lease.release();
  const auto closed = run<bool>(world, [&](auto done) { client->async_close(1s, done); });
  REQUIRE(closed.arrived());
  // Nothing is pending any more: the context runs out of work.
  world.context.restart();
  world.context.run_for(5s);
  CHECK(world.context.stopped());
}

TEST_CASE("batch: a node that somebody deletes by hand fails one of those who wait") {
  Batches batches;
  auto others = batches.queue_other();
  REQUIRE(batches.holds(others));
  auto first = batches.queue();
  const auto names = batches.world.ensemble.children("/lock");
  auto second = batches.queue();
  for (const auto& name : names) {
    if ("/lock/" + name != others.result().node()) batches.world.remove("/lock/" + name);
  }
  REQUIRE(batches.world.run_until_arrived(first));
  CHECK(first.error() == Errc::node_deleted);
  CHECK_FALSE(second.arrived());
  others.result().release();
  CHECK(batches.holds(second));
  second.result().release();
}

TEST_CASE("batch: what none of them may do is told to all at once") {
  Batches batches;
  batches.world.make("/lock");
  batches.world.ensemble.refuse("/lock");
  std::deque<Batches::Place> places(8);
  for (auto& each : places) batches.mutex->async_acquire(each.handler());
  REQUIRE(batches.world.run_until(
      [&] { return std::ranges::all_of(places, &Batches::Place::arrived); }));
  for (auto& each : places) CHECK(each.error() == ServerErrc::no_auth);
  // The stand-ins' few requests answer all eight waiters.
  const auto history = batches.world.ensemble.history();
  CHECK(std::ranges::count_if(history, [](const Submission& each) {
          return each.client == "mine" && each.kind == "create";
        }) <= 4);
  batches.world.ensemble.permit("/lock");
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

TEST_CASE("batch: what makes no sense is refused where it is asked for") {
  Batches batches;
  const auto refused = [](const error_code& error) { return error == Errc::invalid_argument; };
  CHECK_THROWS_MATCHES(
      (InterProcessMutex{*batches.mine, "/lock", {.hand_off = HandOff::cohort(-1)}}), Error,
      Catch::Matchers::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
  CHECK_THROWS_MATCHES(
      (InterProcessMutex{
          *batches.mine, "/lock", {.lease = {.hold_at_most = 1s}, .hand_off = HandOff::cohort(1)}}),
      Error,
      Catch::Matchers::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
  CHECK_THROWS_MATCHES(
      (InterProcessSemaphore{*batches.mine, "/lock", 2, {.hand_off = HandOff::cohort(1)}}), Error,
      Catch::Matchers::Predicate<Error>([&](const Error& error) { return refused(error.code()); }));
}

}  // namespace
}  // namespace custodian::tests::batch_giving_up_test
