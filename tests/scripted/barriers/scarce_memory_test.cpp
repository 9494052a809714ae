// Memory runs out within an operation of a double barrier.

#include "scripted/barriers/party_fixture.hpp"
#include "support/shortage.hpp"

namespace custodian::tests::scarce_memory_test {
namespace {

TEST_CASE("scarce memory: an exception within enter() leaves no member in") {
  // A party of this size has a transaction that is larger than all earlier allocations.
  constexpr std::int32_t many = 300;
  constexpr std::size_t little = 20'000;
  party::Fixture fixture;
  fixture.world.make("/parties");
  fixture.world.make(party::path);
  for (std::int32_t i = 1; i < many; ++i) {
    fixture.world.make(party::path + "/other-" + std::to_string(i));
  }
  party::Member& one = fixture.add("one", many);
  Outcome<bool> entered;
  {
    const Shortage shortage{little};
    entered = one.enter();
    REQUIRE(fixture.world.run_until_arrived(entered));
  }
  CHECK(entered.error() == boost::system::errc::not_enough_memory);
  // It is not in, and its node goes; with memory it enters.
  CHECK(run<bool>(fixture.world, [&](auto done) { one.barrier->async_leave(done); }).error() ==
        Errc::invalid_argument);
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == many - 1; }));
  fixture.check_done(one.enter());
}

}  // namespace
}  // namespace custodian::tests::scarce_memory_test
