// custodian list, beside locks of the test's.

#include <csignal>
#include <future>

#include "cli/look.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::list_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("list shows the locks, the semaphores and the elections below a path") {
  TestClient test{"list"};
  CHECK(look(test, {"list"}).output == "nobody holds or waits at /, nor below it\n");
  InterProcessMutex mutex{*test, "/app/locks/x"};
  const Lease lease = mutex.acquire();
  InterProcessSemaphore semaphore{*test, "/app/pool", 3};
  const auto permits = semaphore.acquire(2);
  LeaderLatch latch{*test, "/app/leader"};
  latch.start();
  REQUIRE(eventually([&] { return latch.has_leadership(); }));

  const Result shown = look(test, {"list", "/app"});
  INFO(shown.output);
  CHECK(shown.status == 0);
  CHECK(contains(shown.output, "KIND       PATH          HOLDER"));
  CHECK(contains(shown.output, "\nelection   /app/leader   "));
  CHECK(contains(shown.output, "\nmutex      /app/locks/x  "));
  CHECK(contains(shown.output, "\nsemaphore  /app/pool     "));
  CHECK(contains(shown.output, " and 1 more"));

  const auto only = look_json(test, {"list", "/app/locks"});
  CHECK(only["path"] == "/app/locks/x");
  CHECK(only["kind"] == "mutex");
  CHECK(only["holders"][0]["node"] == lease.node());
  CHECK(look(test, {"list", "--longer-than", "1h"}).output ==
        "nobody holds or waits at /, nor below it\n");
  CHECK(contains(look(test, {"list", "--max-nodes", "1"}).output, "see --max-nodes"));
}

TEST_CASE("list --cycles finds two processes that wait for each other, and its status says so") {
  TestClient test{"list-cycles"};
  CHECK(look(test, {"list", "--cycles"}).output == "no sessions wait for each other\n");
  ClientOptions other = options_for(test.servers());
  other.name_space = test.root();
  other.identity = "the other";
  const Client client{other};
  InterProcessMutex x{*test, "/x"};
  InterProcessMutex y{*test, "/y"};
  InterProcessMutex other_x{client, "/x"};
  InterProcessMutex other_y{client, "/y"};
  Lease holds_x = x.acquire();
  Lease holds_y = other_y.acquire();
  auto waits_y = std::async(std::launch::async, [&] { return y.try_acquire_for(patience).lease; });
  auto waits_x =
      std::async(std::launch::async, [&] { return other_x.try_acquire_for(patience).lease; });
  REQUIRE(eventually([&] { return x.participants().size() == 2 && y.participants().size() == 2; }));

  const Result shown = look(test, {"list", "--cycles"});
  INFO(shown.output);
  CHECK(shown.status == 1);
  CHECK(contains(shown.output, "2 sessions wait for each other:\n"));
  CHECK(contains(shown.output, "the other"));
  CHECK(contains(shown.output, "so this is a suspicion"));
  const Result json = look(test, {"list", "--cycles", "--json"});
  CHECK(json.status == 1);
  CHECK(contains(json.output, R"({"sessions":2,"waits":[{"identity":)"));

  holds_x.release();
  REQUIRE(waits_x.wait_for(patience) == std::future_status::ready);
  waits_x.get().release();
  holds_y.release();
  REQUIRE(waits_y.wait_for(patience) == std::future_status::ready);
  waits_y.get().release();
  CHECK(look(test, {"list", "--cycles"}).status == 0);
}

TEST_CASE("list --watch shows the list again until it is ended") {
  TestClient test{"list-watch"};
  InterProcessMutex mutex{*test, "/x"};
  Program watching{CUSTODIAN_CLI, words_for(test, {"list", "--watch"})};
  REQUIRE(watching.says("nobody holds or waits at /"));
  const Lease lease = mutex.acquire();
  CHECK(watching.says("mutex  /x "));
  watching.signal(SIGTERM);
  CHECK(watching.result().status == 0);
}

TEST_CASE("list names a mistake in the command line") {
  TestClient test{"list-mistakes"};
  CHECK(look(test, {"list", "locks"}).status == 64);
  CHECK(look(test, {"list", "--watch", "--json"}).status == 64);
  CHECK(look(test, {"list", "--cycles", "--of", "me"}).status == 64);
  CHECK(look(test, {"list", "--max-nodes", "0"}).status == 64);
}

}  // namespace
}  // namespace custodian::tests::list_test
