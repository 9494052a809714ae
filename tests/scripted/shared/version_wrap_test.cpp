// A shared value whose node's version has come round to -1, which means any version to the servers.

#include "custodian/shared/shared_count.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::version_wrap_test {
namespace {

using Count = Versioned<std::int32_t>;

TEST_CASE(
    "version wrap: an exchange that another write precedes returns its value, though the version "
    "is -1") {
  World world;
  auto client = world.client("mine");
  {
    SharedCount count{*client, "/count", 1};
    const auto known = run<Count>(world, [&](auto done) { count.async_load(done); });
    REQUIRE(known.arrived());
    REQUIRE_FALSE(known.error());
    // Somebody else's write leads to that version.
    const Reply before = world.ensemble.operate(request::Get{"/count"});
    world.ensemble.operate(request::Set{"/count", before.data});
    world.ensemble.set_version("/count", any_version);
    const auto exchanged = run<bool, Count>(
        world, [&](auto done) { count.async_compare_exchange(known.result(), 3, done); });
    REQUIRE(exchanged.arrived());
    CHECK_FALSE(exchanged.error());
    CHECK_FALSE(exchanged.result<1>());
    CHECK(exchanged.result<2>().value == 1);
    CHECK(exchanged.result<2>().version == any_version);
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::version_wrap_test
