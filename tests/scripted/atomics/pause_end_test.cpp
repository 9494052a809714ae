// A client that is closed while one of its operations pauses before the next try.

#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/transact.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::pause_end_test {
namespace {

using namespace std::chrono_literals;

constexpr auto path = "/numbers/n";

struct Fixture {
  Fixture() {
    world.make("/numbers");
    world.make(path);
    plan->submitted = [this](std::size_t step) {
      // Another client writes before this write.
      if (step == 1) world.ensemble.operate(request::Set{path, ""});
    };
    world.ensemble.set_fault_plan(plan);
  }
  /// Closes the client, which must end the operation at once.
  template <typename... Results>
  void check_end(const Outcome<Results...>& pausing) {
    world.settle();
    CHECK_FALSE(pausing.arrived());
    Outcome<bool> closing;
    client->async_close(World::limit, closing.handler());
    REQUIRE(world.run_until_arrived(pausing));
    CHECK(pausing.error() == Errc::closed);
    REQUIRE(world.run_until_arrived(closing));
  }

  World world;
  const std::shared_ptr<FaultsAt> plan = std::make_shared<FaultsAt>("mine");
  std::unique_ptr<Client> client = world.client("mine");
};

TEST_CASE("closing ends the pause of an update after another client was quicker", "[atomics]") {
  Fixture fixture;
  DistributedAtomicLong number{
      *fixture.client, path, {.contention = RetryPolicy::forever(std::chrono::hours{1})}};
  Outcome<Updated<std::int64_t>> added;
  number.async_fetch_add(1, {.deadline = Deadline::never()}, added.handler());
  fixture.check_end(added);
}

TEST_CASE("closing ends the pause of a transaction after another client was quicker", "[atomics]") {
  Fixture fixture;
  Outcome<> ended;
  async_transact(
      *fixture.client,
      [](TransactionView view) -> boost::asio::awaitable<void> {
        const std::string place = path;
        static_cast<void>(co_await view.async_get(place, boost::asio::use_awaitable));
        view.set(place, "1");
      },
      {.contention = RetryPolicy::forever(std::chrono::hours{1}), .deadline = Deadline::never()},
      ended.handler());
  fixture.check_end(ended);
}

}  // namespace
}  // namespace custodian::tests::pause_end_test
