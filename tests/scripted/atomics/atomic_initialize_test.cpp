// initialize() of an atomic, and what it leaves for the updates behind it.

#include "scripted/atomics/atomic_fixture.hpp"

namespace custodian::tests::atomic_initialize_test {
namespace {

using namespace atomics;

TEST_CASE("an atomic: an initialize creates the node once", "[atomics]") {
  Fixture fixture;
  const auto initialize = [&](std::int64_t value) {
    return run<bool>(fixture.world,
                     [&](auto done) { fixture.number->async_initialize(value, done); });
  };
  CHECK(initialize(5).result());
  CHECK_FALSE(initialize(6).result());
  CHECK(fixture.is(5));
}

TEST_CASE("an atomic: an exchange of what an initialize has written needs no look at the node",
          "[atomics]") {
  Fixture fixture;
  CHECK(run<bool>(fixture.world, [&](auto done) {
          fixture.number->async_initialize(5, done);
        }).result());
  const Number read =
      run<Number>(fixture.world, [&](auto done) { fixture.number->async_load(done); }).result();
  fixture.world.ensemble.clear_history();
  const auto exchanged = run<Done>(
      fixture.world, [&](auto done) { fixture.number->async_compare_exchange(read, 6, done); });
  CHECK(exchanged.result().written);
  CHECK(fixture.is(6));
  CHECK(fixture.world.ensemble.history().size() == 1);
}

TEST_CASE("an atomic: a node that an initialize has created is not taken for the old one",
          "[atomics]") {
  Fixture fixture;
  static_cast<void>(fixture.add(40));
  fixture.world.ensemble.remove_tree(place);
  CHECK(run<bool>(fixture.world, [&](auto done) {
          fixture.number->async_initialize(std::int64_t{0}, done);
        }).result());
  fixture.write(7);
  CHECK(fixture.add(1).result().before.value == 7);
  CHECK(fixture.is(8));
}

}  // namespace
}  // namespace custodian::tests::atomic_initialize_test
