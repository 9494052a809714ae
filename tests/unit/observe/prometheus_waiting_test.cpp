// The gauges of a PrometheusObserver: acquires that wait, the oldest of them, leaders; and how many
// labels there are.

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/observe/metrics_page.hpp"
#include "waiting_acquires.hpp"

namespace custodian::tests::prometheus_waiting_test {
namespace {

using namespace std::chrono_literals;
using prometheus_detail::WaitingAcquires;
using WallClock = std::chrono::system_clock;

constexpr BootClock::time_point start{1h};
const std::string of_mutex = R"({recipe="InterProcessMutex"})";

void begin(PrometheusObserver& observer, BootClock::time_point began,
           std::string_view path = "/lock") {
  observer.on_acquire_begun({.recipe = "InterProcessMutex", .path = path, .began = began});
}

void end(PrometheusObserver& observer, BootClock::time_point began,
         AcquireOutcome outcome = AcquireOutcome::acquired, std::string_view path = "/lock") {
  observer.on_acquire_ended({.recipe = "InterProcessMutex",
                             .path = path,
                             .outcome = outcome,
                             .error = {},
                             .waited = 3ms,
                             .leases = outcome == AcquireOutcome::acquired ? 1U : 0U,
                             .began = began});
}

double number(const std::string& value) { return value.empty() ? -1 : std::stod(value); }

double unix_time() {
  return std::chrono::duration<double>{WallClock::now().time_since_epoch()}.count();
}

TEST_CASE("waiting acquires: the oldest is the one that began first, whichever ends") {
  WaitingAcquires waiting;
  CHECK_FALSE(waiting.oldest());
  const WallClock::time_point wall{100h};
  waiting.begin(start + 2s, wall + 2s);
  waiting.begin(start + 1s, wall + 1s);
  waiting.begin(start + 3s, wall + 3s);
  CHECK(waiting.size() == 3);
  CHECK(waiting.oldest() == wall + 1s);
  CHECK(waiting.end(start + 2s));
  CHECK(waiting.oldest() == wall + 1s);
  CHECK(waiting.end(start + 1s));
  CHECK(waiting.oldest() == wall + 3s);
  CHECK(waiting.end(start + 3s));
  CHECK(waiting.size() == 0);
  CHECK_FALSE(waiting.oldest());
}

TEST_CASE("waiting acquires: of two that began at the same time each end is one") {
  WaitingAcquires waiting;
  waiting.begin(start, WallClock::time_point{1h});
  waiting.begin(start, WallClock::time_point{1h});
  CHECK(waiting.size() == 2);
  CHECK(waiting.end(start));
  CHECK(waiting.size() == 1);
  CHECK(waiting.end(start));
  CHECK_FALSE(waiting.end(start));
  CHECK(waiting.size() == 0);
}

TEST_CASE("prometheus: an acquire waits from its begin to its end, whatever that is") {
  MetricsPage page;
  const std::string waiting = "custodian_acquires_waiting" + of_mutex;
  CHECK(page.value(waiting).empty());
  begin(page.observer, start);
  CHECK(page.value(waiting) == "1");
  begin(page.observer, start + 1s);
  CHECK(page.value(waiting) == "2");
  const auto outcome =
      GENERATE(AcquireOutcome::acquired, AcquireOutcome::late, AcquireOutcome::declined,
               AcquireOutcome::cancelled, AcquireOutcome::failed);
  end(page.observer, start, outcome);
  CHECK(page.value(waiting) == "1");
  end(page.observer, start + 1s, outcome);
  CHECK(page.value(waiting) == "0");
}

TEST_CASE("prometheus: an end without its begin leaves the gauge as it is") {
  MetricsPage page;
  end(page.observer, start);
  CHECK(page.value("custodian_acquires_waiting" + of_mutex) == "0");
  begin(page.observer, start);
  end(page.observer, start + 1s);
  CHECK(page.value("custodian_acquires_waiting" + of_mutex) == "1");
}

TEST_CASE("prometheus: the oldest acquire is shown by the wall clock, and none by zero") {
  MetricsPage page;
  const std::string oldest = "custodian_oldest_acquire_timestamp_seconds" + of_mutex;
  const double before = unix_time();
  begin(page.observer, start);
  const double between = unix_time();
  begin(page.observer, start + 1s);
  const double after = unix_time();
  const double first = number(page.value(oldest));
  // The page shows fewer digits than a double has.
  constexpr double digits = 1e-3;
  CHECK(first >= before - digits);
  CHECK(first <= between + digits);
  end(page.observer, start);
  const double second = number(page.value(oldest));
  CHECK(second >= between - digits);
  CHECK(second <= after + digits);
  end(page.observer, start + 1s);
  CHECK(page.value(oldest) == "0");
}

TEST_CASE("prometheus: a leader is one from the first leadership to the end of the last") {
  MetricsPage page;
  const std::string recipe = GENERATE("LeaderLatch", "LeaderSelector");
  const std::string leader = "custodian_leader{recipe=\"" + recipe + "\"}";
  const auto lease_begun = [&] {
    page.observer.on_lease_begun({.recipe = recipe, .path = "/leader", .token = {}});
  };
  const auto released = [&](LossReason loss) {
    page.observer.on_lease_released(
        {.recipe = recipe, .path = "/leader", .token = {}, .loss = loss, .held_for = 1s});
  };
  page.observer.on_acquire_begun({.recipe = recipe, .path = "/leader", .began = start});
  CHECK(page.value(leader) == "0");
  lease_begun();
  CHECK(page.value(leader) == "1");
  SECTION("released") {
    released(LossReason::none);
    CHECK(page.value(leader) == "0");
  }
  SECTION("lost, and then released") {
    page.observer.on_lease_lost({.recipe = recipe,
                                 .path = "/leader",
                                 .token = {},
                                 .reason = LossReason::session_over,
                                 .held_for = 1s});
    CHECK(page.value(leader) == "0");
    lease_begun();
    released(LossReason::session_over);
    CHECK(page.value(leader) == "1");
  }
  SECTION("of two elections") {
    lease_begun();
    CHECK(page.value(leader) == "1");
    released(LossReason::none);
    CHECK(page.value(leader) == "1");
    released(LossReason::none);
    CHECK(page.value(leader) == "0");
  }
}

TEST_CASE("prometheus: a lock has no leader") {
  MetricsPage page;
  page.observer.on_lease_begun({.recipe = "InterProcessMutex", .path = "/lock", .token = {}});
  CHECK(page.value("custodian_leader" + of_mutex).empty());
  CHECK(page.value("custodian_leases_held" + of_mutex) == "1");
}

TEST_CASE("prometheus: locks beyond the greatest number of labels share one") {
  MetricsPage page{{.lock_label = [](std::string_view path) { return std::string{path}; },
                    .max_lock_labels = 2}};
  const auto waiting = [&](const std::string& label) {
    return page.value(R"(custodian_acquires_waiting{lock=")" + label +
                      R"(",recipe="InterProcessMutex"})");
  };
  begin(page.observer, start, "/a");
  begin(page.observer, start, "/b");
  begin(page.observer, start, "/c");
  begin(page.observer, start, "/d");
  CHECK(waiting("/a") == "1");
  CHECK(waiting("/b") == "1");
  CHECK(waiting("/c").empty());
  CHECK(waiting("other") == "2");
  // A label that is used goes on, also with another recipe; and an end finds its begin.
  page.observer.on_wait_ended({.recipe = "CountDownLatch",
                               .path = "/a",
                               .outcome = WaitOutcome::passed,
                               .error = {},
                               .waited = 1s});
  page.observer.on_wait_ended({.recipe = "CountDownLatch",
                               .path = "/e",
                               .outcome = WaitOutcome::passed,
                               .error = {},
                               .waited = 1s});
  CHECK(page.value(R"(custodian_wait_seconds_count{lock="/a",recipe="CountDownLatch"})") == "1");
  CHECK(page.value(R"(custodian_wait_seconds_count{lock="other",recipe="CountDownLatch"})") == "1");
  end(page.observer, start, AcquireOutcome::late, "/d");
  CHECK(waiting("other") == "1");
  end(page.observer, start, AcquireOutcome::late, "/a");
  CHECK(waiting("/a") == "0");
}

TEST_CASE("prometheus: there are 200 labels of locks unless another number is given") {
  MetricsPage page{{.lock_label = [](std::string_view path) { return std::string{path}; }}};
  for (int i = 0; i < 1000; ++i) begin(page.observer, start, "/" + std::to_string(i));
  CHECK(page.value(R"(custodian_acquires_waiting{lock="/199",recipe="InterProcessMutex"})") == "1");
  CHECK(
      page.value(R"(custodian_acquires_waiting{lock="/200",recipe="InterProcessMutex"})").empty());
  CHECK(page.value(R"(custodian_acquires_waiting{lock="other",recipe="InterProcessMutex"})") ==
        "800");
}

TEST_CASE("prometheus: acquires of several clients are counted while the page is read") {
  MetricsPage page{{.lock_label = [](std::string_view path) { return std::string{path}; }}};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&page, i] {
      const std::string path = i % 2 == 0 ? "/even" : "/odd";
      for (int turn = 0; turn < 500; ++turn) {
        begin(page.observer, start + turn * 1s, path);
        if (turn % 2 == 0) end(page.observer, start + turn * 1s, AcquireOutcome::late, path);
        page.observer.on_lease_begun({.recipe = "LeaderLatch", .path = path, .token = {}});
      }
    });
  }
  for (int i = 0; i < 20; ++i) static_cast<void>(page.text());
  for (auto& each : clients) each.join();
  for (const char* const path : {"/even", "/odd"}) {
    const std::string lock = std::string{R"({lock=")"} + path + R"(",recipe=")";
    CHECK(page.value("custodian_acquires_waiting" + lock + R"(InterProcessMutex"})") == "500");
    CHECK(page.value("custodian_leader" + lock + R"(LeaderLatch"})") == "1");
    CHECK(page.value("custodian_leases_held" + lock + R"(LeaderLatch"})") == "1000");
  }
}

}  // namespace
}  // namespace custodian::tests::prometheus_waiting_test
