// The blocking forms of barriers and latches: what they return, and what they throw.

#include <boost/asio/error.hpp>
#include <chrono>
#include <stop_token>
#include <thread>

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/blocking_calls.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_calls_test {
namespace {

using namespace std::chrono_literals;

const error_code no_auth = ServerErrc::no_auth;
const error_code aborted = boost::asio::error::operation_aborted;
const error_code out_of_turn = Errc::invalid_argument;
const error_code unknown = Errc::deadline_exceeded_outcome_unknown;

TEST_CASE("calls: a barrier's calls return what it does") {
  BlockingClient one;
  DistributedBarrier barrier{one.client, "/barrier"};
  CHECK_FALSE(barrier.is_set());
  barrier.set();
  barrier.set();
  CHECK(barrier.is_set());
  CHECK_FALSE(barrier.wait_for(0s));
  CHECK_FALSE(barrier.wait_for(20ms));
  barrier.remove();
  barrier.remove();
  CHECK_FALSE(barrier.is_set());
  barrier.wait();
  CHECK(barrier.wait_for(0s));
  CHECK(barrier.wait_for(1h));
}

TEST_CASE("calls: a barrier's calls throw what the servers refuse, and when they are stopped") {
  BlockingClient one;
  DistributedBarrier barrier{one.client, "/barrier"};
  DistributedBarrier missing{one.client, "/missing"};
  barrier.set();
  check_throws(aborted, "DistributedBarrier::wait", "/barrier",
               [&] { barrier.wait(BlockingClient::stopped()); });
  check_throws(aborted, "DistributedBarrier::wait", "/barrier",
               [&] { return barrier.wait_for(1h, BlockingClient::stopped()); });
  one.ensemble.refuse("/");
  one.ensemble.refuse("/barrier");
  check_throws(no_auth, "DistributedBarrier::set", "/missing", [&] { missing.set(); });
  check_throws(no_auth, "DistributedBarrier::remove", "/barrier", [&] { barrier.remove(); });
  check_throws(no_auth, "DistributedBarrier::is_set", "/barrier", [&] { return barrier.is_set(); });
  check_throws(no_auth, "DistributedBarrier::wait", "/barrier", [&] { barrier.wait(); });
  check_throws(no_auth, "DistributedBarrier::wait", "/barrier",
               [&] { return barrier.wait_for(1h); });
  check_throws(no_auth, "DistributedBarrier::wait", "/barrier",
               [&] { return barrier.wait_for(0s); });
}

TEST_CASE("calls: a latch's calls return what they do") {
  BlockingClient one;
  CountDownLatch latch{one.client, "/latch", 4};
  CHECK(latch.count() == 4);
  CHECK_FALSE(latch.try_wait());
  latch.count_down();
  latch.count_down(0);
  CHECK(latch.count() == 3);
  CHECK_FALSE(latch.wait_for(0s));
  CHECK_FALSE(latch.wait_for(20ms));
  latch.count_down(2);
  CHECK(latch.count() == 1);
  latch.arrive_and_wait();
  CHECK(latch.count() == 0);
  CHECK(latch.try_wait());
  latch.wait();
  CHECK(latch.wait_for(0s));
  CHECK(latch.wait_for(1h));
  latch.remove();
  latch.remove();
  CHECK(latch.count() == 4);
  CHECK_FALSE(one.ensemble.exists("/latch"));
}

TEST_CASE("calls: a latch's calls throw what the servers refuse, and when they are stopped") {
  BlockingClient one;
  CountDownLatch latch{one.client, "/latch", 10};
  latch.count_down();
  check_throws(aborted, "CountDownLatch::wait", "/latch",
               [&] { latch.wait(BlockingClient::stopped()); });
  check_throws(aborted, "CountDownLatch::wait", "/latch",
               [&] { return latch.wait_for(1h, BlockingClient::stopped()); });
  check_throws(aborted, "CountDownLatch::arrive_and_wait", "/latch", [&] {
    // Until a stop is requested the call waits, and has arrived.
    std::stop_source source;
    const std::jthread stopping{[&] {
      static_cast<void>(until([&] { return one.ensemble.exists("/latch/0000000001"); }));
      source.request_stop();
    }};
    latch.arrive_and_wait(1, source.get_token());
  });
  check_throws(out_of_turn, "CountDownLatch::count_down", "/latch", [&] { latch.count_down(-1); });
  check_throws(out_of_turn, "CountDownLatch::count_down", "/latch",
               [&] { latch.arrive_and_wait(-1); });
  const auto nothing = [](error_code) {};
  check_throws(out_of_turn, "CountDownLatch::count_down", "/latch",
               [&] { latch.async_count_down(-1, nothing); });
  check_throws(out_of_turn, "CountDownLatch::count_down", "/latch",
               [&] { latch.async_arrive_and_wait(-1, nothing); });
  one.ensemble.refuse("/");
  one.ensemble.refuse("/latch");
  check_throws(no_auth, "CountDownLatch::count_down", "/latch", [&] { latch.count_down(); });
  check_throws(no_auth, "CountDownLatch::arrive_and_wait", "/latch",
               [&] { latch.arrive_and_wait(); });
  check_throws(no_auth, "CountDownLatch::wait", "/latch", [&] { latch.wait(); });
  check_throws(no_auth, "CountDownLatch::wait", "/latch", [&] { return latch.wait_for(1h); });
  check_throws(no_auth, "CountDownLatch::count", "/latch", [&] { return latch.count(); });
  check_throws(no_auth, "CountDownLatch::remove", "/latch", [&] { latch.remove(); });
  CHECK_FALSE(latch.try_wait());
}

TEST_CASE("calls: a double barrier's calls return whether the member is in, and out") {
  BlockingClient one;
  DistributedDoubleBarrier alone{one.client, "/alone", 1};
  alone.enter();
  alone.leave();
  CHECK(alone.try_enter_for(1h));
  CHECK(alone.try_leave_for(1h));
  DistributedDoubleBarrier first{one.client, "/party", 2};
  CHECK_FALSE(first.try_enter_for(0s));
  CHECK_FALSE(one.ensemble.exists("/party"));
  CHECK_FALSE(first.try_enter_for(20ms));
  DistributedDoubleBarrier second{one.client, "/party", 2};
  {
    const std::jthread entering{[&] { first.enter(); }};
    second.enter();
  }
  // The second member is still in. The first one leaves at once, for it has no time to wait.
  CHECK_FALSE(first.try_leave_for(0s));
  check_throws(out_of_turn, "DistributedDoubleBarrier::leave", "/party", [&] { first.leave(); });
  second.leave();
}

TEST_CASE(
    "calls: a double barrier's calls throw what the servers refuse, and when they are stopped") {
  BlockingClient one;
  DistributedDoubleBarrier member{one.client, "/party", 2};
  check_throws(aborted, "DistributedDoubleBarrier::enter", "/party",
               [&] { member.enter(BlockingClient::stopped()); });
  check_throws(aborted, "DistributedDoubleBarrier::enter", "/party",
               [&] { return member.try_enter_for(1h, BlockingClient::stopped()); });
  DistributedDoubleBarrier alone{one.client, "/alone", 1};
  alone.enter();
  one.ensemble.refuse("/alone");
  check_throws(no_auth, "DistributedDoubleBarrier::leave", "/alone", [&] { alone.leave(); });
  one.ensemble.refuse("/party");
  check_throws(no_auth, "DistributedDoubleBarrier::enter", "/party", [&] { member.enter(); });
  check_throws(no_auth, "DistributedDoubleBarrier::enter", "/party",
               [&] { return member.try_enter_for(1h); });
  one.ensemble.permit("/alone");
  CHECK(alone.try_enter_for(1h));
  one.ensemble.refuse("/alone");
  check_throws(no_auth, "DistributedDoubleBarrier::leave", "/alone",
               [&] { return alone.try_leave_for(1h); });
  one.ensemble.permit("/alone");
}

TEST_CASE("calls: a member whose leaving is stopped before it begins has left") {
  BlockingClient one;
  DistributedDoubleBarrier first{one.client, "/party", 2};
  DistributedDoubleBarrier second{one.client, "/party", 2};
  {
    const std::jthread entering{[&] { first.enter(); }};
    second.enter();
  }
  const auto are_there = [&](std::size_t nodes) {
    return until([&] { return one.ensemble.children("/party").size() == nodes; });
  };
  CHECK(are_there(3));  // the members, and the ready node
  check_throws(aborted, "DistributedDoubleBarrier::leave", "/party",
               [&] { first.leave(BlockingClient::stopped()); });
  CHECK(are_there(2));
  check_throws(out_of_turn, "DistributedDoubleBarrier::leave", "/party", [&] { first.leave(); });
  second.leave();
  CHECK(are_there(0));
}

TEST_CASE("calls: a phase's calls return whether it is over") {
  BlockingClient one;
  InterProcessBarrier alone{one.client, "/alone", 1};
  alone.arrive_and_wait();
  CHECK(alone.arrive_and_wait_for(1h));
  InterProcessBarrier two{one.client, "/two", 2};
  CHECK_FALSE(two.arrive_and_wait_for(0s));
  CHECK_FALSE(one.ensemble.exists("/two"));
  CHECK_FALSE(two.arrive_and_wait_for(20ms));
  check_throws(aborted, "InterProcessBarrier::arrive_and_wait", "/two",
               [&] { two.arrive_and_wait(BlockingClient::stopped()); });
  check_throws(aborted, "InterProcessBarrier::arrive_and_wait", "/two",
               [&] { return two.arrive_and_wait_for(1h, BlockingClient::stopped()); });
  one.ensemble.refuse("/alone");
  check_throws(no_auth, "InterProcessBarrier::arrive_and_wait", "/alone",
               [&] { alone.arrive_and_wait(); });
  check_throws(no_auth, "InterProcessBarrier::arrive_and_wait", "/alone",
               [&] { return alone.arrive_and_wait_for(1h); });
}

TEST_CASE(
    "calls: a wait with a limit for a party or a phase ends though no thread runs the context") {
  UnrunClient mine;
  DistributedDoubleBarrier member{*mine.client, "/party", 2};
  check_throws(unknown, "DistributedDoubleBarrier::enter", "/party",
               [&] { return member.try_enter_for(UnrunClient::brief); });
  InterProcessBarrier barrier{*mine.client, "/phases", 2};
  check_throws(unknown, "InterProcessBarrier::arrive_and_wait", "/phases",
               [&] { return barrier.arrive_and_wait_for(UnrunClient::brief); });
  DistributedDoubleBarrier alone{*mine.client, "/alone", 1};
  CHECK_FALSE(run<bool>(mine.world, [&](auto done) { alone.async_enter(done); }).error());
  CHECK_FALSE(alone.try_leave_for(UnrunClient::brief));
}

}  // namespace
}  // namespace custodian::tests::barrier_calls_test
