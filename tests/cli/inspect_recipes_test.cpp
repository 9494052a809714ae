// custodian inspect at the paths of barriers, latches, conditions and values, against a real
// server.

#include <thread>

#include "cli/look.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::inspect_recipes_test {
namespace {

using Json = nlohmann::json;

Json recipe_at(TestClient& test, const char* path) {
  const Json seen = look_json(test, {"inspect", path});
  CHECK(seen["queue"].empty());
  CHECK(seen["foreign"].empty());
  return seen["recipe"];
}
std::string words_at(TestClient& test, const char* path) {
  const Result text = look(test, {"inspect", path});
  CHECK(text.status == 0);
  return text.output;
}

TEST_CASE("inspect shows a double barrier's members, whether they are in, and a stale ready node") {
  TestClient test{"inspect-party"};
  DistributedDoubleBarrier one{*test, "/party", 2};
  DistributedDoubleBarrier two{*test, "/party", 2};
  std::jthread first{[&] { one.enter(); }};
  REQUIRE(eventually([&] { return names_below(*test, "/party").size() == 1; }));
  CHECK(contains(words_at(test, "/party"), "a double barrier: 1 waits for a party"));
  two.enter();
  first.join();
  const Json party = recipe_at(test, "/party");
  CHECK(party["kind"] == "DistributedDoubleBarrier");
  CHECK(party["ready"] == true);
  CHECK(party["stale"] == false);
  REQUIRE(party["clients"].size() == 2);
  CHECK(party["clients"][1]["state"] == "in");
  std::jthread last{[&] { one.leave(); }};
  two.leave();
  last.join();
  CHECK(contains(words_at(test, "/party"), "a double barrier: 0 wait for a party"));
  test->create("/party/ready", "members:\nnobody\n");
  CHECK(recipe_at(test, "/party")["stale"] == true);
}

TEST_CASE("inspect shows a barrier's phase, a latch's arrivals, and a barrier that is set") {
  TestClient test{"inspect-gates"};
  InterProcessBarrier phases{*test, "/phases", 2};
  std::jthread first{[&] { phases.arrive_and_wait(); }};
  REQUIRE(eventually([&] { return names_below(*test, "/phases").size() == 1; }));
  CHECK(recipe_at(test, "/phases")["clients"].size() == 1);
  phases.arrive_and_wait();
  first.join();
  CHECK(recipe_at(test, "/phases")["phase"] == 1);

  CountDownLatch latch{*test, "/latch", 3};
  latch.count_down(2);
  const Json seen = recipe_at(test, "/latch");
  CHECK((seen["kind"] == "CountDownLatch" && seen["arrivals"] == 2 && seen["expected"] == 3));
  CHECK(contains(words_at(test, "/latch"), "a latch: 2 of 3 have arrived"));

  DistributedBarrier barrier{*test, "/barrier"};
  barrier.set();
  CHECK(contains(words_at(test, "/barrier"), "a value, or a barrier that is set: "));
  const Json folder = look_json(test, {"inspect", "/"});
  CHECK(folder["recipes_below"].size() == 2);
  CHECK(contains(words_at(test, "/"), "below: /latch (CountDownLatch)"));
  CHECK_FALSE(contains(words_at(test, "/"), "takes no part: /latch"));
}

TEST_CASE("inspect shows a condition's waiters, and a signal without a waiter") {
  TestClient test{"inspect-condition"};
  InterProcessMutex mutex{*test, "/lock"};
  InterProcessCondition condition{mutex, "/changed"};
  std::jthread waiter{[&](std::stop_token stop) {
    Lease lease = mutex.acquire();
    (void)error_of([&] { (void)condition.wait(lease, std::move(stop)); });
  }};
  REQUIRE(eventually(
      [&] { return test->exists("/changed") && names_below(*test, "/changed").size() == 1; }));
  const Json waiting = recipe_at(test, "/changed");
  CHECK(waiting["kind"] == "InterProcessCondition");
  CHECK(waiting["clients"][0]["state"] == "waits");
  const std::string left = "/changed/sig-_c_01234567-89ab-cdef-0123-456789abcdef-wait-0000000000";
  test->create(left);
  CHECK(recipe_at(test, "/changed")["left_signals"] == Json{left});
  test->remove(left);
}

TEST_CASE("inspect shows a number with its witnesses, and a rate limiter") {
  TestClient test{"inspect-numbers"};
  DistributedAtomicLong hits{*test, "/hits", {.settle = Settle::exactly_once}};
  hits += 41;
  ++hits;
  const Json seen = recipe_at(test, "/hits");
  CHECK((seen["kind"] == "value" && seen["number"] == 42));
  REQUIRE(seen["clients"].size() == 1);
  CHECK(seen["clients"][0]["state"] == "updates");
  CHECK(contains(words_at(test, "/hits"), "a number: 42 (8 bytes, version "));

  RateLimiter limiter{*test, "/rate", {.permits_per_second = 10}};
  limiter.acquire();
  CHECK(recipe_at(test, "/rate")["cost_ns"] == 100'000'000);
}

TEST_CASE("inspect --watch shows that a number changes") {
  TestClient test{"watch-number"};
  DistributedAtomicLong hits{*test, "/hits"};
  Program watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/hits", "--watch"})};
  REQUIRE(watch.says("nobody holds or waits at /hits"));
  hits.store(7);
  REQUIRE(watch.says("a number: 7 "));
  hits.store(8);
  REQUIRE(watch.says("a number: 8 "));
  watch.signal(SIGTERM);
  CHECK(watch.result().status == 0);
}

}  // namespace
}  // namespace custodian::tests::inspect_recipes_test
