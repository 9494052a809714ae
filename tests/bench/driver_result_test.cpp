// What a driver of the benchmark reports is parsed, added and turned into metrics.

#include "driver_result.hpp"

#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "driver.hpp"
#include "shared_page.hpp"
#include "support/catch.hpp"

namespace custodian::tests::driver_result_test {
namespace {

using namespace custodian::bench;

TEST_CASE("a driver's result becomes cycles a second and times") {
  DriverResult result = parse_result(
      R"({"cycles": 10, "writes": 10, "violations": 0, "seconds": 2,
          "acquire": {"buckets": [[320, 9], [640, 1]], "maximum": 1048576},
          "handover": {"buckets": [], "maximum": 0}})");
  const Metrics metrics = to_metrics(result);
  CHECK(metrics.at("cycles_per_s") == 5);
  CHECK(metrics.at("acquire_p50_us") == Approx(1.024));
  CHECK(metrics.at("acquire_p99_us") == Approx(1048.576));
  CHECK(metrics.at("acquire_max_us") == Approx(1048.576));
  CHECK(metrics.count("handover_p50_us") == 0);
  CHECK(metrics.count("drained_per_s") == 0);

  SECTION("with another process', which took longer") {
    result.add(parse_result(R"({"cycles": 6, "writes": 2, "violations": 1, "seconds": 4,
                                "acquire": {"buckets": [], "maximum": 0},
                                "handover": {"buckets": [[320, 1]], "maximum": 1024}})"));
    CHECK(result.cycles == 16);
    CHECK(result.writes == 12);
    CHECK(result.violations == 1);
    CHECK(to_metrics(result).at("cycles_per_s") == 4);
    CHECK(to_metrics(result).at("handover_p50_us") == Approx(1.024));
  }
}

TEST_CASE("a crowd's result becomes rates and memory") {
  const Metrics metrics = to_metrics(parse_result(
      R"({"cycles": 100, "writes": 100, "violations": 0, "seconds": 3, "queue_seconds": 1,
          "drain_seconds": 0.5, "in_order": true, "memory_bytes": 204800, "peak_bytes": 409600,
          "acquire": {"buckets": [], "maximum": 0}, "handover": {"buckets": [], "maximum": 0}})"));
  CHECK(metrics.at("queued_per_s") == 100);
  CHECK(metrics.at("drained_per_s") == 200);
  CHECK(metrics.at("memory_per_waiter") == 2048);
  CHECK(metrics.at("peak_per_waiter") == 4096);
  CHECK(metrics.count("cycles_per_s") == 0);
}

TEST_CASE("locks that are held besides become rates and memory, beside the cycles") {
  const Metrics metrics = to_metrics(parse_result(
      R"({"cycles": 6, "writes": 6, "violations": 0, "seconds": 3, "locks": 100,
          "hold_seconds": 0.5, "let_go_seconds": 0.25, "memory_bytes": 51200,
          "acquire": {"buckets": [], "maximum": 0}, "handover": {"buckets": [], "maximum": 0}})"));
  CHECK(metrics.at("held_per_s") == 200);
  CHECK(metrics.at("let_go_per_s") == 400);
  CHECK(metrics.at("memory_per_lock") == 512);
  CHECK(metrics.at("cycles_per_s") == 2);
  CHECK(metrics.count("memory_per_waiter") == 0);
}

TEST_CASE("a result that lacks something is refused") {
  CHECK_THROWS(parse_result(R"({"cycles": 10})"));
  CHECK_THROWS(parse_result("done"));
}

TEST_CASE("a task is read from its words") {
  const Task task = parse_task(
      "work=cycle path=/a counter=/b threads=8 sessions=2 write_every=10 passes=64 keep=1 "
      "hold_us=5 "
      "pause_us=7 "
      "seconds=0.5 waiters=3 servers=h:1 locks=4");
  CHECK(task.work == "cycle");
  CHECK(task.path == "/a");
  CHECK(task.counter == "/b");
  CHECK(task.servers == "h:1");
  CHECK(task.threads == 8);
  CHECK(task.sessions == 2);
  CHECK(task.waiters == 3);
  CHECK(task.locks == 4);
  CHECK(task.write_every == 10);
  CHECK(task.passes == 64);
  CHECK(task.keep);
  CHECK(task.hold.count() == 5);
  CHECK(task.pause.count() == 7);
  CHECK(task.seconds.count() == 0.5);
  CHECK_THROWS_AS(parse_task("work"), std::invalid_argument);
  CHECK_THROWS_AS(parse_task("word=1"), std::invalid_argument);
  CHECK_THROWS_AS(parse_task("threads=many"), std::invalid_argument);
}

TEST_CASE("two that are inside at once show on the page") {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("custodian-bench-page-" + std::to_string(::getpid())))
                               .string();
  SharedPage page{file};
  SharedPage seen_by_others{file};
  std::filesystem::remove(file);
  page.clear();
  CHECK(page.enter(1));
  CHECK(seen_by_others.is_written());
  CHECK(page.leave(1, 42));
  CHECK(seen_by_others.last_release() == 42);
  CHECK_FALSE(seen_by_others.is_written());

  CHECK(page.enter(1));
  CHECK_FALSE(seen_by_others.enter(2));
  CHECK_FALSE(page.leave(1, 43));
  CHECK(page.count() == 2);
}

}  // namespace
}  // namespace custodian::tests::driver_result_test
