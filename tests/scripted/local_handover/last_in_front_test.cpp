// A contender is granted the lock without another listing when the only contender in front of it
// leaves, unless that departure proves nothing.

#include <algorithm>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::last_in_front_test {
namespace {

/// "first" holds the lock, and "second" waits with only that holder in front.
struct Two {
  explicit Two(std::shared_ptr<FaultsAt> plan = nullptr) {
    auto had = run<Lease>(world, [&](auto done) { firsts->async_acquire(done); });
    REQUIRE(had.arrived());
    held = std::move(had.result());
    if (plan) world.ensemble.set_fault_plan(plan);
    AcquireOptions options;
    options.on_position = [this](std::size_t now, const Participant&) { ahead = now; };
    seconds->async_acquire(options, waiting.handler());
  }
  ~Two() {
    held.release();
    if (waiting.arrived()) waiting.result().release();
    firsts.reset();
    seconds.reset();
    CHECK(world.end(first));
    CHECK(world.end(second));
  }

  bool wait_until_it_waits() {
    return world.run_until([&] { return ahead == 1; });
  }
  std::string seconds_node() {
    const auto names = world.ensemble.children("/lock");
    return "/lock/" + *std::ranges::find_if(names, [&](const std::string& name) {
             return "/lock/" + name != held.node();
           });
  }
  std::ptrdiff_t listings_of_second() {
    return std::ranges::count_if(world.ensemble.history(), [](const Submission& each) {
      return each.client == "second" && each.kind == "children";
    });
  }

  World world;
  std::unique_ptr<Client> first = world.client("first");
  std::unique_ptr<Client> second = world.client("second");
  std::optional<InterProcessMutex> firsts{std::in_place, *first, "/lock"};
  std::optional<InterProcessMutex> seconds{std::in_place, *second, "/lock"};
  Lease held;
  Outcome<Lease> waiting;
  std::size_t ahead = 0;
};

TEST_CASE("last in front: its going is the grant, without another listing") {
  Two two;
  REQUIRE(two.wait_until_it_waits());
  two.world.ensemble.clear_history();
  two.held.release();
  REQUIRE(two.world.run_until_arrived(two.waiting));
  CHECK_FALSE(two.waiting.error());
  CHECK(two.listings_of_second() == 0);
}

TEST_CASE("last in front: what a new connection tells of it is no grant") {
  // A new connection reports both deletions in the order of the names. These are random, so the
  // case is repeated.
  for (int time = 0; time < 20; ++time) {
    Two two;
    REQUIRE(two.wait_until_it_waits());
    const std::string own = two.seconds_node();
    two.world.ensemble.disconnect(two.second->session().id);
    two.world.remove(own);
    two.world.remove(two.held.node());
    REQUIRE(two.world.run_until_arrived(two.waiting));
    CHECK(two.waiting.error() == Errc::node_deleted);
  }
}

TEST_CASE("last in front: whoever finds it gone, and was deleted meanwhile, is not in") {
  const auto plan = std::make_shared<FaultsAt>("second");
  // The request with this number reads the node in front. The requests before it are the create,
  // the listing, and the read of the waiter's own node.
  constexpr std::size_t look_in_front = 3;
  Two* game = nullptr;
  plan->submitted = [&](std::size_t step) {
    if (step != look_in_front) return;
    const std::string own = game->seconds_node();
    game->world.remove(game->held.node());
    game->world.remove(own);
  };
  Two two{plan};
  game = &two;
  REQUIRE(two.world.run_until_arrived(two.waiting));
  CHECK(plan->steps() > look_in_front);
  CHECK(two.waiting.error() == Errc::node_deleted);
}

TEST_CASE("last in front: a writer that has left a reader behind lets no writer in") {
  World world;
  auto first = world.client("first");
  auto second = world.client("second");
  {
    InterProcessReadWriteLock firsts{*first, "/lock"};
    InterProcessReadWriteLock seconds{*second, "/lock"};
    auto writing = run<Lease>(world, [&](auto done) { firsts.write().async_acquire(done); });
    REQUIRE(writing.arrived());
    Outcome<Lease> waiting;
    int looks = 0;
    AcquireOptions options;
    options.on_position = [&](std::size_t, const Participant&) { ++looks; };
    seconds.write().async_acquire(options, waiting.handler());
    REQUIRE(world.run_until([&] { return looks == 1; }));
    auto reading =
        run<Lease>(world, [&](auto done) { firsts.read().async_acquire(writing.result(), done); });
    REQUIRE(reading.arrived());
    REQUIRE_FALSE(reading.error());
    writing.result().release();
    REQUIRE(world.run_until([&] { return looks == 2 || waiting.arrived(); }));
    CHECK_FALSE(waiting.arrived());
    reading.result().release();
    REQUIRE(world.run_until_arrived(waiting));
    CHECK_FALSE(waiting.error());
    waiting.result().release();
  }
  CHECK(world.end(first));
  CHECK(world.end(second));
}

}  // namespace
}  // namespace custodian::tests::last_in_front_test
