// custodian barrier and custodian latch, together with clients of the test's.

#include "cli/look.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::barrier_latch_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("barrier sets a barrier, waits for it, and removes it") {
  TestClient test{"barrier-command"};
  DistributedBarrier barrier{*test, "/barrier"};
  CHECK(look(test, {"barrier", "/barrier", "wait"}).status == 0);
  CHECK(look(test, {"barrier", "/barrier", "set"}).status == 0);
  CHECK(barrier.is_set());
  CHECK(look(test, {"barrier", "/barrier", "set"}).status == 0);
  const Result late = look(test, {"barrier", "/barrier", "wait", "--wait", "50ms"});
  CHECK(late.status == 75);
  CHECK(contains(late.output, "the barrier /barrier is set"));
  CHECK(look(test, {"barrier", "/barrier", "wait", "--wait", "0s"}).status == 75);
  Program waiter{CUSTODIAN_CLI, words_for(test, {"barrier", "/barrier", "wait"})};
  Program limited{CUSTODIAN_CLI, words_for(test, {"barrier", "/barrier", "wait", "--wait", "5m"})};
  CHECK(look(test, {"barrier", "/barrier", "remove"}).status == 0);
  CHECK(waiter.result().status == 0);
  CHECK(limited.result().status == 0);
  CHECK_FALSE(barrier.is_set());
  CHECK(look(test, {"barrier", "/barrier", "remove"}).status == 0);
  CHECK(look(test, {"barrier", "/barrier", "wait", "--wait", "0s"}).status == 0);
}

TEST_CASE("latch arrives, counts, waits until so many have arrived, and removes the latch") {
  TestClient test{"latch-command"};
  const auto latch = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"latch", "/latch", "--arrivals", "2"});
    return look(test, std::move(words));
  };
  CHECK(latch({"count"}).output == "2\n");
  CHECK(latch({"arrive"}).status == 0);
  CHECK(latch({"count"}).output == "1\n");
  const Result late = latch({"wait", "--wait", "50ms"});
  CHECK(late.status == 75);
  CHECK(contains(late.output, "the latch /latch is not open"));
  CHECK(latch({"wait", "--wait", "0s"}).status == 75);
  Program waiter{CUSTODIAN_CLI, words_for(test, {"latch", "/latch", "wait", "--arrivals", "2"})};
  CHECK(latch({"arrive"}).status == 0);
  CHECK(waiter.result().status == 0);
  CHECK(latch({"wait"}).status == 0);
  CHECK(latch({"wait", "--wait", "0s"}).status == 0);
  CHECK(look(test, {"latch", "/latch", "arrive", "--arrivals", "3"}).status == 64);
  CHECK(latch({"remove"}).status == 0);
  CHECK_FALSE(test->exists("/latch"));
}

TEST_CASE("barrier and latch name a mistake in the command line, and servers that do not answer") {
  TestClient test{"barrier-mistakes"};
  CHECK(look(test, {"barrier", "/barrier"}).status == 64);
  CHECK(look(test, {"barrier", "/barrier", "open"}).status == 64);
  CHECK(look(test, {"barrier", "barrier", "set"}).status == 64);
  CHECK(look(test, {"latch", "/latch", "wait"}).status == 64);
  CHECK(look(test, {"latch", "/latch", "wait", "--arrivals", "-1"}).status == 64);
  CHECK(look(test, {"latch", "/latch", "wait", "--arrivals", "two"}).status == 64);
  for (const char* recipe : {"barrier", "latch"}) {
    std::vector<std::string> words{"--servers", "127.0.0.1:1", recipe, "/one",
                                   "wait",      "--wait",      "200ms"};
    if (recipe == std::string{"latch"}) words.insert(words.end(), {"--arrivals", "1"});
    const Result away = run(CUSTODIAN_CLI, words);
    INFO(away.output);
    CHECK(away.status == 69);
  }
}

}  // namespace
}  // namespace custodian::tests::barrier_latch_test
