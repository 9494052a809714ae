// Looks of an acquire that detects deadlocks: which of them count.

#include <boost/asio/post.hpp>

#include "scripted/inspect/deadlock_scene.hpp"

namespace custodian::tests::deadlock_looks_test {
namespace {

namespace asio = boost::asio;

TEST_CASE("deadlock: a look counts for nothing if another acquire of its client begins meanwhile") {
  World world;
  const auto counter = std::make_shared<LookCounter>();
  Party one{world, "one"};
  Party two{world, "two"};
  Lease hold_x = one.acquire(*one.x);
  Lease hold_y = two.acquire(*two.y);
  std::optional<InterProcessMutex> elsewhere{std::in_place, *one.client, "/elsewhere"};
  std::optional<InterProcessMutex> of_two{std::in_place, *two.client, "/elsewhere"};
  Lease held = two.acquire(*of_two);
  world.ensemble.set_fault_plan(counter);
  const auto older = two.wait(*two.x);
  Outcome<Lease> another;
  counter->on_look = [&](std::size_t look) {
    if (look != 2) return;
    asio::post(world.context, [&] { elsewhere->async_acquire(another.handler()); });
  };
  const auto waiting = one.wait(*one.y, looking());
  // The second look saw the circle, too, but a client with two acquires can go on by either.
  const auto has_begun = [&] { return world.ensemble.children("/elsewhere").size() == 2; };
  REQUIRE(world.run_until([&] { return waiting.arrived() || has_begun(); }));
  world.settle();
  REQUIRE_FALSE(waiting.arrived());
  // The circle is judged anew when the other acquire has ended.
  held.release();
  REQUIRE(world.run_until_arrived(waiting));
  CHECK(waiting.error() == deadlock_error());
  CHECK(counter->looks == 4);

  another.result().release();
  two.give_up.emit(asio::cancellation_type::total);
  REQUIRE(world.run_until_arrived(older));
  world.ensemble.set_fault_plan(nullptr);
  hold_x.release();
  hold_y.release();
  elsewhere.reset();
  of_two.reset();
  CHECK(one.end().empty());
  CHECK(two.end().empty());
}

}  // namespace
}  // namespace custodian::tests::deadlock_looks_test
