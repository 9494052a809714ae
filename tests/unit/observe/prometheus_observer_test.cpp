#include "custodian/prometheus/prometheus_observer.hpp"

#include <prometheus/registry.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/observe/metrics_page.hpp"

namespace custodian::tests::prometheus_observer_test {
namespace {

using namespace std::chrono_literals;

using Page = MetricsPage;

AcquireEnded acquired(std::string_view path, std::chrono::nanoseconds waited = 3ms) {
  return {.recipe = "InterProcessMutex",
          .path = path,
          .outcome = AcquireOutcome::acquired,
          .error = {},
          .waited = waited,
          .leases = 1};
}

TEST_CASE("prometheus: acquires are counted by their outcome, and waits of those with a lease") {
  Page page;
  page.observer.on_acquire_ended(acquired("/a"));
  page.observer.on_acquire_ended(acquired("/b", 30s));
  AcquireEnded late = acquired("/a", 1h);
  late.outcome = AcquireOutcome::late;
  page.observer.on_acquire_ended(late);
  const std::string of_mutex = R"({recipe="InterProcessMutex"})";
  CHECK(page.value(R"(custodian_acquires_total{outcome="acquired",recipe="InterProcessMutex"})") ==
        "2");
  CHECK(page.value(R"(custodian_acquires_total{outcome="late",recipe="InterProcessMutex"})") ==
        "1");
  CHECK(page.value(R"(custodian_acquires_total{outcome="failed",recipe="InterProcessMutex"})") ==
        "0");
  CHECK(page.value("custodian_acquire_wait_seconds_count" + of_mutex) == "2");
  CHECK(page.value(
            R"(custodian_acquire_wait_seconds_bucket{recipe="InterProcessMutex",le="0.005"})") ==
        "1");
  CHECK(page.value("custodian_acquire_wait_seconds_sum" + of_mutex).starts_with("30.00"));
}

TEST_CASE(
    "prometheus: waits are counted by their outcome, and the times of those that have passed") {
  Page page;
  const auto ended = [&](WaitOutcome outcome, std::chrono::nanoseconds waited) {
    page.observer.on_wait_ended({.recipe = "CountDownLatch",
                                 .path = "/latch",
                                 .outcome = outcome,
                                 .error = {},
                                 .waited = waited});
  };
  ended(WaitOutcome::passed, 3ms);
  ended(WaitOutcome::passed, 30s);
  ended(WaitOutcome::late, 1h);
  const std::string waits = "custodian_waits_total";
  CHECK(page.value(waits + R"({outcome="passed",recipe="CountDownLatch"})") == "2");
  CHECK(page.value(waits + R"({outcome="late",recipe="CountDownLatch"})") == "1");
  CHECK(page.value(waits + R"({outcome="spurious",recipe="CountDownLatch"})") == "0");
  CHECK(page.value(R"(custodian_wait_seconds_count{recipe="CountDownLatch"})") == "2");
  // There are no series of locks, since this is no lock.
  CHECK(page.value(R"(custodian_leases_held{recipe="CountDownLatch"})").empty());
}

TEST_CASE("prometheus: updates are counted by their outcome, with their tries") {
  Page page;
  UpdateEnded update{.recipe = "DistributedAtomicLong",
                     .path = "/number",
                     .error = {},
                     .written = true,
                     .tries = 3,
                     .promoted = true,
                     .lasted = 2ms};
  page.observer.on_update_ended(update);
  update.written = false;
  update.promoted = false;
  page.observer.on_update_ended(update);
  update.error = Errc::closed;
  page.observer.on_update_ended(update);
  const std::string updates = "custodian_updates_total";
  const std::string of_number = R"({recipe="DistributedAtomicLong"})";
  CHECK(page.value(updates + R"({outcome="written",recipe="DistributedAtomicLong"})") == "1");
  CHECK(page.value(updates + R"({outcome="unchanged",recipe="DistributedAtomicLong"})") == "1");
  CHECK(page.value(updates + R"({outcome="failed",recipe="DistributedAtomicLong"})") == "1");
  CHECK(page.value("custodian_update_tries_total" + of_number) == "3");
  CHECK(page.value("custodian_updates_promoted_total" + of_number) == "1");
  CHECK(page.value("custodian_update_seconds_count" + of_number) == "2");
}

TEST_CASE("prometheus: kept locks are counted by their reuses, and by why they were given back") {
  Page page;
  page.observer.on_lock_reused(
      {.recipe = "InterProcessMutex", .path = "/a", .token = {}, .times = 40});
  page.observer.on_lock_reused(
      {.recipe = "InterProcessMutex", .path = "/b", .token = {}, .times = 2});
  page.observer.on_kept_lock_ended(
      {.recipe = "InterProcessMutex", .path = "/a", .token = {}, .reason = KeptLockEnd::crowded});
  const std::string ended = "custodian_kept_locks_ended_total";
  CHECK(page.value(R"(custodian_lock_reuses_total{recipe="InterProcessMutex"})") == "42");
  CHECK(page.value(ended + R"({reason="crowded",recipe="InterProcessMutex"})") == "1");
  CHECK(page.value(ended + R"({reason="wanted",recipe="InterProcessMutex"})") == "0");
}

TEST_CASE("prometheus: a lease is held until it is released or lost, and counted once") {
  Page page;
  const std::string held = R"(custodian_leases_held{recipe="LeaderLatch"})";
  const std::string holds = R"(custodian_hold_seconds_count{recipe="LeaderLatch"})";
  const std::string lost =
      R"(custodian_leases_lost_total{reason="session_over",recipe="LeaderLatch"})";
  page.observer.on_lease_begun({.recipe = "LeaderLatch", .path = "/l", .token = {}});
  page.observer.on_lease_begun({.recipe = "LeaderLatch", .path = "/l", .token = {}});
  CHECK(page.value(held) == "2");
  CHECK(page.value(lost) == "0");
  page.observer.on_lease_released({.recipe = "LeaderLatch",
                                   .path = "/l",
                                   .token = {},
                                   .loss = LossReason::none,
                                   .held_for = 1s});
  CHECK(page.value(held) == "1");
  CHECK(page.value(holds) == "1");
  page.observer.on_lease_lost({.recipe = "LeaderLatch",
                               .path = "/l",
                               .token = {},
                               .reason = LossReason::session_over,
                               .held_for = 2s});
  page.observer.on_lease_released({.recipe = "LeaderLatch",
                                   .path = "/l",
                                   .token = {},
                                   .loss = LossReason::session_over,
                                   .held_for = 9s});
  CHECK(page.value(held) == "0");
  CHECK(page.value(holds) == "2");
  CHECK(page.value(lost) == "1");
  CHECK(page.value(R"(custodian_hold_seconds_sum{recipe="LeaderLatch"})") == "3");
}

TEST_CASE("prometheus: retries are counted by what was tried, and why again") {
  Page page;
  const OperationRetried retried{.operation = "create",
                                 .path = "/lock/_c_1-lock-",
                                 .error = ServerErrc::connection_loss,
                                 .attempts = 1,
                                 .pause = 0ms};
  page.observer.on_operation_retried(retried);
  page.observer.on_operation_retried(retried);
  CHECK(page.value(R"(custodian_retries_total{error="connection_loss",operation="create"})") ==
        "2");
}

TEST_CASE("prometheus: of the connection its state, what it came through, and its absence") {
  Page page;
  const auto in = [&](const std::string& state) {
    return page.value(R"(custodian_connection_state{state=")" + state + R"("})");
  };
  CHECK(in("connecting") == "1");
  CHECK(in("connected") == "0");
  page.observer.on_connection_changed({.state = ConnectionState::connected, .away = 1s});
  page.observer.on_connection_changed({.state = ConnectionState::suspended, .away = 0s});
  CHECK(in("connecting") == "0");
  CHECK(in("connected") == "0");
  CHECK(in("suspended") == "1");
  page.observer.on_connection_changed({.state = ConnectionState::reconnected, .away = 2s});
  CHECK(page.value("custodian_reconnects_total") == "1");
  CHECK(page.value("custodian_disconnected_seconds_total") == "3");
  page.observer.on_connection_changed({.state = ConnectionState::lost, .away = 4s});
  CHECK(page.value("custodian_sessions_lost_total") == "1");
  CHECK(page.value("custodian_disconnected_seconds_total") == "3");
  CHECK(in("lost") == "1");
}

TEST_CASE("prometheus: by default no path is a label; with a function what that makes of it") {
  SECTION("none") {
    Page page;
    page.observer.on_acquire_ended(acquired("/orders/1"));
    page.observer.on_acquire_ended(acquired("/orders/2"));
    CHECK(page.value(
              R"(custodian_acquires_total{outcome="acquired",recipe="InterProcessMutex"})") == "2");
  }
  SECTION("with a function") {
    Page page{{.lock_label = [](std::string_view path) {
      return std::string{path.substr(0, path.rfind('/'))};
    }}};
    page.observer.on_acquire_ended(acquired("/orders/1"));
    page.observer.on_acquire_ended(acquired("/orders/2"));
    page.observer.on_acquire_ended(acquired("/invoices/1"));
    const auto of = [&](const std::string& lock) {
      return page.value(R"(custodian_acquires_total{lock=")" + lock +
                        R"(",outcome="acquired",recipe="InterProcessMutex"})");
    };
    CHECK(of("/orders") == "2");
    CHECK(of("/invoices") == "1");
  }
}

TEST_CASE("prometheus: clients that share a registry are told apart by their names") {
  const auto registry = std::make_shared<prometheus::Registry>();
  Page page{{.client = "one"}};
  PrometheusObserver another{page.registry, {.client = "two"}};
  page.observer.on_connection_changed({.state = ConnectionState::connected, .away = 1s});
  another.on_connection_changed({.state = ConnectionState::lost, .away = 0s});
  another.on_acquire_ended(acquired("/a"));
  CHECK(page.value(R"(custodian_connection_state{client="one",state="connected"})") == "1");
  CHECK(page.value(R"(custodian_connection_state{client="two",state="connected"})") == "0");
  CHECK(page.value(R"(custodian_sessions_lost_total{client="two"})") == "1");
  CHECK(page.value(R"(custodian_acquires_total{client="two",outcome="acquired",)"
                   R"(recipe="InterProcessMutex"})") == "1");
}

TEST_CASE("prometheus: an observer of several clients is called for them at the same time") {
  Page page;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&page, i] {
      const std::string recipe = "recipe-" + std::to_string(i % 2);
      for (int turn = 0; turn < 500; ++turn) {
        page.observer.on_lease_begun({.recipe = recipe, .path = "/l", .token = {}});
      }
    });
  }
  for (auto& each : clients) each.join();
  CHECK(page.value(R"(custodian_leases_held{recipe="recipe-0"})") == "1000");
  CHECK(page.value(R"(custodian_leases_held{recipe="recipe-1"})") == "1000");
}

TEST_CASE("prometheus: buckets that do not grow are refused, as is no registry") {
  const auto registry = std::make_shared<prometheus::Registry>();
  CHECK_THROWS_AS((PrometheusObserver{registry, {.wait_buckets = {1, 1}}}), Error);
  CHECK_THROWS_AS((PrometheusObserver{registry, {.hold_buckets = {2, 1}}}), Error);
  CHECK_THROWS_AS(PrometheusObserver{nullptr}, Error);
  CHECK_NOTHROW((PrometheusObserver{registry, {.wait_buckets = {}, .hold_buckets = {1, 2}}}));
}

}  // namespace
}  // namespace custodian::tests::prometheus_observer_test
