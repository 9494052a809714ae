// A leader observer whose new session begins on a server that lags behind.

#include "custodian/leader/leader_observer.hpp"

#include <algorithm>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::leader_observer_test {
namespace {

constexpr auto path = "/election";
const std::string earlier = "/election/latch-0000000000";
const std::string later = "/election/latch-0000000001";

using Leader = Outcome<std::optional<Participant>>;

/// The node `later` leads, and an observer has reported it. One server lags: it does not know that
/// node.
struct Observing {
  /// `before` is the node that leads on the lagging server, if any.
  explicit Observing(const std::optional<std::string>& before) {
    world.make(path);
    if (before) world.make(*before);
    world.ensemble.leave_server_behind();
    if (before) world.remove(*before);
    world.make(later);
    const Leader first = next();
    REQUIRE(world.run_until_arrived(first));
    REQUIRE(first.result());
    CHECK(first.result()->node == later);
  }
  ~Observing() {
    observer.reset();
    const auto closed = run<bool>(world, [&](auto done) {
      client->async_close(Deadline{std::chrono::seconds{1}}, std::move(done));
    });
    CHECK(closed.arrived());
    CHECK(world.end(client));
  }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

  [[nodiscard]] Leader next() {
    Leader leader;
    observer->async_next(leader.handler());
    return leader;
  }
  void come_to_the_server_that_lags() {
    world.settle();
    world.ensemble.clear_history();
    world.ensemble.expire(client->session().id);
  }
  /// Returns whether the observer reads the node, and then waits.
  [[nodiscard]] bool looks_at(const std::string& node) {
    const bool looked = world.run_until([&] {
      return std::ranges::any_of(world.ensemble.history(), [&](const Submission& each) {
        return each.kind == "get" && each.path == node;
      });
    });
    world.settle();
    return looked;
  }

  // Servers catch up only when the test says so.
  World world{std::chrono::hours{1}};
  std::unique_ptr<Client> client = world.client("observing");
  std::optional<LeaderObserver> observer{std::in_place, *client, path};
};

TEST_CASE("an observer does not tell of an earlier leader after a later one") {
  Observing observing{earlier};
  const Leader second = observing.next();
  observing.come_to_the_server_that_lags();
  REQUIRE(observing.looks_at(earlier));
  CHECK_FALSE(second.arrived());

  const auto synced = run<>(
      observing.world, [&](auto done) { observing.client->async_sync(path, {}, std::move(done)); });
  REQUIRE(synced.arrived());
  REQUIRE(observing.looks_at(later));
  CHECK_FALSE(second.arrived());  // `later` was reported already

  observing.world.remove(later);
  REQUIRE(observing.world.run_until_arrived(second));
  CHECK_FALSE(second.error());
  CHECK_FALSE(second.result());
}

TEST_CASE("an observer does not tell that nobody leads because a server has not seen the leader") {
  Observing observing{std::nullopt};
  const Leader second = observing.next();
  observing.come_to_the_server_that_lags();
  REQUIRE(observing.looks_at(later));
  CHECK_FALSE(second.arrived());

  observing.world.remove(later);
  REQUIRE(observing.world.run_until_arrived(second));
  CHECK_FALSE(second.error());
  CHECK_FALSE(second.result());
}

}  // namespace
}  // namespace custodian::tests::leader_observer_test
