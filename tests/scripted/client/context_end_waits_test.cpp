// A context that is destroyed while a user waits for an event, or for a turn. The handlers of the
// waits must go with the context, and nothing may refer to the coroutines that waited.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/shared/shared_value.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/leaks_are_expected.hpp"

namespace custodian::tests::context_end_waits_test {

using namespace std::chrono_literals;

namespace {

constexpr auto path = "/waits/node";

/// A connected client, whose context the test runs and destroys.
struct Doomed {
  Doomed() {
    world.make("/waits");
    world.make(path);
    while (!is_connected(client->connection_state())) context->run_one_for(World::limit);
  }
  /// Runs until nothing is left to do for a moment.
  void settle() const {
    while (context->run_one_for(20ms) != 0) {
    }
  }
  void end_context() {
    client.reset();
    context.reset();
  }
  /// The next request is not answered.
  void delay_next() {
    const Faults first{{0, {.kind = FaultKind::delay}}};
    world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("observed", first));
  }

  const LeaksAreExpected leaks{};
  World world{};
  std::unique_ptr<boost::asio::io_context> context = std::make_unique<boost::asio::io_context>(1);
  std::unique_ptr<Client> client =
      std::make_unique<Client>(context->get_executor(), world.options("observed"));
  const std::shared_ptr<int> owned = std::make_shared<int>();
};

TEST_CASE("end of context: the handler of a wait for a watch goes with it") {
  Doomed doomed;
  // Never destroyed, as a thread that waits for it would not have destroyed it either.
  auto* const watch = new Watch;
  doomed.client->async_get_and_watch(
      path, {}, [&](error_code, const GetResult&, Watch armed) { *watch = std::move(armed); });
  doomed.settle();
  REQUIRE(*watch);
  watch->async_wait([owned = doomed.owned](error_code, WatchEventType) {});
  doomed.settle();
  CHECK(doomed.owned.use_count() == 2);
  doomed.end_context();
  CHECK(doomed.owned.use_count() == 1);
}

TEST_CASE("end of context: the handler of a wait for a shared value goes with it") {
  Doomed doomed;
  const SharedValue value{*doomed.client, path};
  std::optional<Versioned<std::string>> known;
  value.async_load([&](error_code, Versioned<std::string> loaded) { known = std::move(loaded); });
  doomed.settle();
  REQUIRE(known);
  value.async_wait(*known, [owned = doomed.owned](error_code, const Versioned<std::string>&) {});
  doomed.settle();
  CHECK(doomed.world.ensemble.watches() == 1);
  CHECK(doomed.owned.use_count() == 2);
  doomed.end_context();
  CHECK(doomed.owned.use_count() == 1);
}

TEST_CASE("end of context: the handler of a wait for the next leader goes with it") {
  Doomed doomed;
  LeaderObserver observer{*doomed.client, path};
  bool has_begun = false;
  observer.async_next([&](error_code, const std::optional<Participant>&) { has_begun = true; });
  doomed.settle();
  REQUIRE(has_begun);
  observer.async_next([owned = doomed.owned](error_code, const std::optional<Participant>&) {});
  doomed.settle();
  CHECK(doomed.owned.use_count() == 2);
  doomed.end_context();
  CHECK(doomed.owned.use_count() == 1);
}

TEST_CASE("end of context: the handlers of a mirror's waits go with it") {
  Doomed doomed;
  std::optional<TreeCache> mirror{std::in_place, *doomed.client, path};
  doomed.settle();
  REQUIRE(mirror->get(path));
  std::optional<TreeCache> unread{std::in_place, *doomed.client, path};
  doomed.delay_next();
  mirror->async_next([](error_code, const MirrorChange&) {});
  mirror->async_next([](error_code, const MirrorChange&) {});
  doomed.settle();
  mirror->async_next([owned = doomed.owned](error_code, const MirrorChange&) {});
  unread->async_wait_synced([owned = doomed.owned](error_code) {});
  doomed.settle();
  CHECK(doomed.owned.use_count() == 3);
  doomed.end_context();
  CHECK(doomed.owned.use_count() == 1);
  CHECK(mirror->state() == MirrorState::closed);
  CHECK(mirror->get(path));
  mirror.reset();
  unread.reset();
}

TEST_CASE("end of context: those who wait in a line for permits go with it") {
  Doomed doomed;
  std::optional<RateLimiter> limiter{std::in_place, *doomed.client, path,
                                     RateLimit{.permits_per_second = 1}};
  doomed.delay_next();
  const auto after = std::make_shared<int>();
  limiter->async_acquire([](error_code) {});
  limiter->async_acquire([after](error_code) {});
  doomed.settle();
  limiter.reset();
  doomed.end_context();
  CHECK(after.use_count() == 1);
}

TEST_CASE("end of context: updates that wait for one before them go with it") {
  Doomed doomed;
  std::optional<DistributedAtomicLong> number{std::in_place, *doomed.client, path};
  doomed.delay_next();
  number->async_fetch_add(1, [](error_code, const Updated<std::int64_t>&) {});
  doomed.settle();
  for (int i = 0; i < 2; ++i) {
    number->async_fetch_add(1, [](error_code, const Updated<std::int64_t>&) {});
  }
  doomed.settle();
  number.reset();
  doomed.end_context();
}

TEST_CASE("an event may be notified after the context of its waiters, or destroyed before it") {
  for (const bool event_first : {false, true}) {
    auto context = std::make_unique<boost::asio::io_context>(1);
    std::optional<AsyncEvent> event{std::in_place};
    bool is_over = false;
    boost::asio::co_spawn(*context, event->wait(context->get_executor(), Deadline::never(), {}),
                          [&](const std::exception_ptr&) { is_over = true; });
    context->poll();
    if (event_first) event.reset();
    context.reset();
    if (event) event->notify_all();
    CHECK_FALSE(is_over);
  }
}

}  // namespace
}  // namespace custodian::tests::context_end_waits_test
