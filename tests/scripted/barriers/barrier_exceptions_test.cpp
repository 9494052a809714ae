// User code that throws within the operations of barriers, and reads that are forbidden: an
// operation that ends so has neither entered nor arrived, and its node is deleted.

#include <memory>
#include <stdexcept>

#include "scripted/barriers/party_fixture.hpp"
#include "scripted/barriers/phase_fixture.hpp"

namespace custodian::tests::barrier_exceptions_test {
namespace {

/// A client whose ACL provider throws for nodes below this path, while `throws` is true.
struct Throwing {
  Throwing(World& of, std::string_view below) : world{of} {
    ClientOptions options = world.options("one");
    options.acl_provider = [throws = throws, below](std::string_view path) -> Acl {
      if (*throws && path.starts_with(below)) throw std::runtime_error{"out of ideas"};
      return open_acl();
    };
    client = world.client(std::move(options));
  }
  World& world;
  const std::shared_ptr<bool> throws = std::make_shared<bool>(true);
  std::unique_ptr<Client> client;
};

TEST_CASE("double barrier: user code that throws within enter() leaves nobody in") {
  // It is asked for the barrier's own node, and for the member's.
  for (const std::string& below : {std::string{"/parties"}, party::path + "/"}) {
    World world;
    Throwing one{world, below};
    {
      DistributedDoubleBarrier barrier{*one.client, party::path, 1};
      const auto enter = [&] {
        return run<bool>(world, [&](auto done) { barrier.async_enter(done); });
      };
      CHECK(enter().error() == Errc::invalid_argument);
      CHECK(run<bool>(world, [&](auto done) { barrier.async_leave(done); }).error() ==
            Errc::invalid_argument);
      *one.throws = false;
      CHECK_FALSE(enter().error());
      CHECK_FALSE(run<bool>(world, [&](auto done) { barrier.async_leave(done); }).error());
    }
    CHECK(world.end(one.client));
  }
}

TEST_CASE("phases: user code that throws within an arrival leaves nobody that has arrived") {
  for (const std::string& below : {std::string{"/phases"}, phases::path + "/"}) {
    World world;
    Throwing one{world, below};
    {
      InterProcessBarrier barrier{*one.client, phases::path, 1};
      const auto arrive = [&] {
        return run<>(world, [&](auto done) { barrier.async_arrive_and_wait(done); });
      };
      CHECK(arrive().error() == Errc::invalid_argument);
      *one.throws = false;
      CHECK_FALSE(arrive().error());
      CHECK(world.ensemble.operate(request::Get{phases::path}).stat.version == 1);
    }
    CHECK(world.end(one.client));
  }
}

TEST_CASE("double barrier: a member that may not read the ready node is out, and its node goes") {
  party::Fixture fixture;
  fixture.leave_ready_behind();
  party::Member& one = fixture.add("one");
  fixture.world.ensemble.refuse(party::ready);
  const auto entered = one.enter();
  REQUIRE(fixture.world.run_until_arrived(entered));
  CHECK(entered.error() == ServerErrc::no_auth);
  CHECK(fixture.world.run_until([&] { return fixture.nodes() == 1; }));
  fixture.world.ensemble.permit(party::ready);
  party::Member& two = fixture.add("two");
  fixture.enter_both(one, two);
  fixture.leave_both(one, two);
}

}  // namespace
}  // namespace custodian::tests::barrier_exceptions_test
