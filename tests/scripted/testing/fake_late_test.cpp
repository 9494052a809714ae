// A request that arrives late at the fake ensemble.

#include <algorithm>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_late_test {
namespace {

struct Late {
  explicit Late(int requests_later) {
    client = world.client("observed");
    other = world.client("other");
    session = client->session().id;
    world.ensemble.set_fault_plan(std::make_shared<FaultsAt>(
        "observed",
        Faults{{0, {.kind = FaultKind::apply_late, .requests_later = requests_later}}}));
    const auto created =
        run<Created>(world, [&](auto done) { client->async_create("/late", "", once, done); });
    REQUIRE(created.arrived());
    REQUIRE(created.error() == ServerErrc::connection_loss);
  }

  void read(Client& by) {
    REQUIRE(run<GetResult>(world, [&](auto done) { by.async_get("/", {}, done); }).arrived());
  }
  bool end() { return world.end(client) && world.end(other); }

  const CreateOptions once{.mode = CreateMode::ephemeral, .retry = RetryPolicy::none()};
  World world;
  std::unique_ptr<Client> client;
  std::unique_ptr<Client> other;
  std::int64_t session = 0;
};

TEST_CASE("fake: a late request is applied after so many others of its session") {
  Late late{3};
  late.read(*late.client);
  for (int i = 0; i < 5; ++i) late.read(*late.other);
  late.read(*late.client);
  CHECK_FALSE(late.world.ensemble.exists("/late"));
  late.read(*late.client);
  CHECK(late.world.ensemble.exists("/late"));
  CHECK(late.world.ensemble.apply_late_requests() == 0);
  CHECK(late.end());
}

TEST_CASE("fake: a late request is its session's, and fires watches") {
  Late late{0};
  auto looked = run<std::optional<Stat>, Watch>(
      late.world, [&](auto done) { late.other->async_exists_and_watch("/late", {}, done); });
  REQUIRE(looked.arrived());
  for (int i = 0; i < 20; ++i) late.read(*late.client);
  CHECK_FALSE(late.world.ensemble.exists("/late"));
  CHECK(late.world.ensemble.watches() == 1);
  CHECK(late.world.ensemble.apply_late_requests() == 1);
  CHECK(late.world.ensemble.watches() == 0);
  looked.result<2>() = Watch{};
  CHECK(late.world.ensemble.operate(request::Exists{"/late"}).stat.ephemeral_owner == late.session);
  CHECK(late.world.ensemble.apply_late_requests() == 0);
  late.world.ensemble.expire(late.session);
  CHECK_FALSE(late.world.ensemble.exists("/late"));
  CHECK(late.end());
}

TEST_CASE("fake: a late request of a session that is over is refused") {
  Late late{0};
  late.world.ensemble.expire(late.session);
  CHECK(late.world.ensemble.apply_late_requests() == 0);
  CHECK_FALSE(late.world.ensemble.exists("/late"));
  CHECK(late.end());
}

}  // namespace
}  // namespace custodian::tests::fake_late_test
