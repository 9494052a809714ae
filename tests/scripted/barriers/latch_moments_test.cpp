// Latches' operations, when another client acts, a reply is lost or the servers refuse a request at
// one certain moment.

#include <optional>
#include <string>

#include "custodian/barriers/count_down_latch.hpp"
#include "scripted/enough_time.hpp"
#include "scripted/moments.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::latch_moments_test {
namespace {

struct Latch {
  explicit Latch(std::int32_t expected) { latch.emplace(*client, path, expected); }
  ~Latch() {
    world.ensemble.set_fault_plan(nullptr);
    world.ensemble.release_replies();
    latch.reset();
    CHECK(world.end(client));
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  [[nodiscard]] Outcome<> count_down(OperationOptions options = {}) {
    return run<>(world, [&](auto done) { latch->async_count_down(1, options, done); });
  }

  const std::string path = "/latches/one";
  World world;
  std::unique_ptr<Client> client = world.client("one");
  std::optional<CountDownLatch> latch;
  const std::shared_ptr<Moments> plan = std::make_shared<Moments>("one");
};

TEST_CASE("latch: an arrival that is late with the latch's node has certainly not counted") {
  play_with_enough_time(brief_limit, [](std::chrono::milliseconds time) {
    Latch one{2};
    one.world.make("/latches");
    one.plan->fault_at({"create", 0}, {.kind = FaultKind::delay});
    one.world.ensemble.set_fault_plan(one.plan);
    const auto late = one.count_down({.deadline = Deadline{time}});
    REQUIRE(late.arrived());
    const auto history = one.world.ensemble.history();
    if (history.empty() || history.back().kind != "create") return false;
    CHECK(late.error() == Errc::deadline_exceeded);
    CHECK(one.world.ensemble.children(one.path).empty());
    return true;
  });
}

TEST_CASE("latch: an arrival fails when it may not create a latch that was deleted") {
  Latch one{2};
  one.world.make("/latches");
  one.world.make(one.path, "2");
  one.plan->before({"multi", 0}, [&] { one.world.ensemble.remove_tree(one.path); });
  one.plan->before({"get", 1}, [&] { one.world.ensemble.refuse(one.path); });
  one.world.ensemble.set_fault_plan(one.plan);
  const auto refused = one.count_down();
  REQUIRE(refused.arrived());
  CHECK(refused.error() == ServerErrc::no_auth);
}

TEST_CASE("latch: an arrival whose reply is lost ends with its client, and says so") {
  Latch one{2};
  one.world.make("/latches");
  one.world.make(one.path, "2");
  one.plan->fault_at({"multi", 0}, {.kind = FaultKind::fail_before});
  one.plan->fault_at({"get", 1}, {.kind = FaultKind::delay});
  one.world.ensemble.set_fault_plan(one.plan);
  Outcome<> counted;
  one.latch->async_count_down(1, counted.handler());
  REQUIRE(one.world.run_until([&] {
    const auto history = one.world.ensemble.history();
    return history.size() > 1 && history.back().kind == "get" &&
           history[history.size() - 2].kind == "multi";
  }));
  const auto closed =
      run<bool>(one.world, [&](auto done) { one.client->async_close(Deadline::never(), done); });
  REQUIRE(closed.arrived());
  REQUIRE(one.world.run_until_arrived(counted));
  CHECK(counted.error() == Errc::closed);
}

TEST_CASE("latch: a waiter whose watch is lost with its connection waits on") {
  Latch one{2};
  Outcome<> opened;
  one.latch->async_wait(opened.handler());
  REQUIRE(one.world.run_until([&] { return one.world.ensemble.watches() == 1; }));
  one.world.settle();
  one.plan->fault_at({"children", 0},
                     {.kind = FaultKind::fail_before, .next_watches = NextWatches::are_dropped});
  one.world.ensemble.set_fault_plan(one.plan);
  const auto counted =
      run<std::int32_t>(one.world, [&](auto done) { one.latch->async_count(done); });
  REQUIRE(counted.arrived());
  CHECK_FALSE(counted.error());
  CHECK(one.world.run_until([&] { return one.world.ensemble.watches() == 1; }));
  one.world.settle();
  CHECK_FALSE(opened.arrived());
  for (int i = 0; i < 2; ++i) {
    const auto arrival = one.count_down();
    REQUIRE(arrival.arrived());
    CHECK_FALSE(arrival.error());
  }
  REQUIRE(one.world.run_until_arrived(opened));
  CHECK_FALSE(opened.error());
}

}  // namespace
}  // namespace custodian::tests::latch_moments_test
