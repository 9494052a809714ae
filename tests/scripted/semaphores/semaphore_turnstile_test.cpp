// A waiter at a semaphore's turnstile whose nodes, session, client or count of permits change.

#include <algorithm>

#include "custodian/lease/revocation.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/semaphores/semaphore_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::semaphore_turnstile_test {

using namespace permits;

namespace {

/// "other" holds two of three permits, and "observed" waits at the turnstile for two.
struct AtTheTurnstile {
  explicit AtTheTurnstile(RequeuePolicy requeue = RequeuePolicy::queue_again,
                          Relief relief = Relief::given_back)
      : others{semaphore(*other, relief)}, mine{semaphore(*observed, relief)} {
    held = tests::run<std::vector<Lease>>(
        world, [&](auto done) { others->async_acquire(2, std::move(done)); });
    REQUIRE(held.arrived());
    AcquireOptions options;
    options.requeue = requeue;
    options.on_position = [waits = waits](auto&&...) { *waits = true; };
    mine->async_acquire(2, options, two.handler());
    REQUIRE(world.run_until([&] { return *waits; }));
    REQUIRE(leases(world).size() == 4);
  }
  ~AtTheTurnstile() {
    held.result().clear();
    if (two.arrived()) two.result().clear();
    mine.reset();
    others.reset();
    CHECK(world.run_until([&] { return leases(world).empty(); }));
    CHECK(world.run_until([&] { return world.ensemble.watches() == 0; }));
    CHECK(world.ensemble.children(std::string{path} + "/locks").empty());
    if (observed) CHECK(world.end(observed));
    CHECK(world.end(other));
  }
  AtTheTurnstile(const AtTheTurnstile&) = delete;
  AtTheTurnstile& operator=(const AtTheTurnstile&) = delete;

  /// Checks that the acquire failed for this reason and left no node.
  void check_given_up(const error_code& why) {
    REQUIRE(world.run_until_arrived(two));
    CHECK(two.error() == why);
    CHECK(two.result().empty());
    CHECK(world.run_until([&] { return leases(world).size() == 2; }));
  }
  void check_granted_when_relieved() {
    world.settle();
    CHECK_FALSE(two.arrived());
    held.result().clear();
    REQUIRE(world.run_until_arrived(two));
    CHECK_FALSE(two.error());
    CHECK(two.result().size() == 2);
  }
  [[nodiscard]] std::string place() {
    const std::string locks = std::string{path} + "/locks";
    return locks + "/" + world.ensemble.children(locks).at(0);
  }

  World world;
  std::unique_ptr<Client> other = world.client("other");
  std::unique_ptr<Client> observed = world.client("observed");
  std::optional<InterProcessSemaphore> others;
  std::optional<InterProcessSemaphore> mine;
  std::shared_ptr<bool> waits = std::make_shared<bool>(false);
  Outcome<std::vector<Lease>> held;
  Outcome<std::vector<Lease>> two;
};

TEST_CASE("semaphore: whose place at the turnstile is deleted gives up its leases, and says so",
          "[semaphore]") {
  AtTheTurnstile turnstile;
  turnstile.world.remove(turnstile.place());
  turnstile.check_given_up(Errc::node_deleted);
}

TEST_CASE("semaphore: who loses one of several leases gives up the others and its place",
          "[semaphore]") {
  AtTheTurnstile turnstile;
  std::vector<std::string> names = leases(turnstile.world);
  std::ranges::sort(names, {},
                    [](const std::string& name) { return name.substr(name.size() - 10); });
  turnstile.world.remove(std::string{path} + "/leases/" + names.back());
  turnstile.check_given_up(Errc::node_deleted);
}

TEST_CASE("semaphore: who loses its session at the turnstile says so, or queues again",
          "[semaphore]") {
  {
    AtTheTurnstile turnstile{RequeuePolicy::fail};
    turnstile.world.ensemble.expire(turnstile.observed->session().id);
    turnstile.check_given_up(Errc::session_lost);
  }
  AtTheTurnstile turnstile;
  *turnstile.waits = false;
  turnstile.world.ensemble.expire(turnstile.observed->session().id);
  REQUIRE(turnstile.world.run_until([&] { return *turnstile.waits; }));
  turnstile.check_granted_when_relieved();
}

TEST_CASE("semaphore: a client that closes at the turnstile leaves nothing there", "[semaphore]") {
  AtTheTurnstile turnstile;
  turnstile.mine.reset();
  turnstile.observed->close();
  turnstile.check_given_up(Errc::closed);
}

TEST_CASE("semaphore: who is asked at the turnstile to let go goes on waiting", "[semaphore]") {
  AtTheTurnstile turnstile;
  turnstile.world.ensemble.operate(request::Set{turnstile.place(), std::string{revoke_message}});
  turnstile.check_granted_when_relieved();
}

TEST_CASE("semaphore: a counter that is deleted counts as its seed for who waits", "[semaphore]") {
  AtTheTurnstile turnstile{RequeuePolicy::queue_again, Relief::maximum_raised};
  turnstile.world.remove("/maximum");
  REQUIRE(turnstile.world.run_until([&] { return turnstile.world.ensemble.exists("/maximum"); }));
  turnstile.check_granted_when_relieved();
}

TEST_CASE("semaphore: a counter that is no number any more ends who waits, and says so",
          "[semaphore]") {
  AtTheTurnstile turnstile{RequeuePolicy::queue_again, Relief::maximum_raised};
  turnstile.world.ensemble.operate(request::Set{"/maximum", "no number"});
  turnstile.check_given_up(Errc::malformed_data);
}

TEST_CASE("semaphore: a waiter reads its own node once, however often it is woken", "[semaphore]") {
  AtTheTurnstile turnstile{RequeuePolicy::queue_again, Relief::maximum_raised};
  const std::string place = turnstile.place();
  turnstile.world.ensemble.clear_history();
  *turnstile.waits = false;
  SharedCount{*turnstile.other, "/maximum", maximum}.async_store(maximum, [](error_code) {});
  REQUIRE(turnstile.world.run_until([&] { return *turnstile.waits; }));
  CHECK(std::ranges::count(turnstile.world.ensemble.history(), place, &Submission::path) == 0);
  turnstile.check_granted_when_relieved();
}

/// Lowers the maximum to 1 before the request `at`, unless the request is a delete: a contender
/// that deletes has already decided.
class Lowering final : public testing::FaultPlan {
 public:
  Lowering(World& world, std::size_t at) : world_{world}, at_{at} {}
  Fault on_submit(const Submission& submission) override {
    if (step_++ == at_ && submission.kind != "remove") {
      lowered = true;
      world_.ensemble.operate(request::Set{"/maximum", std::string{"\0\0\0\1", 4}});
    }
    return {};
  }
  bool lowered = false;

 private:
  World& world_;
  std::size_t at_;
  std::size_t step_ = 0;
};

TEST_CASE("semaphore: a maximum that is lowered while somebody looks lets nobody in",
          "[semaphore]") {
  World world;
  auto client = world.client("observed");
  {
    InterProcessSemaphore mine = semaphore(*client, Relief::maximum_raised);
    auto one = run<std::vector<Lease>>(world, [&](auto done) { mine.async_acquire(1, done); });
    REQUIRE(one.arrived());
    bool lowered = true;
    for (std::size_t at = 0; lowered; ++at) {
      INFO("lowered at request " << at);
      world.ensemble.operate(request::Set{"/maximum", std::string{"\0\0\0\2", 4}});
      const auto plan = std::make_shared<Lowering>(world, at);
      world.ensemble.set_fault_plan(plan);
      auto another = run<PermitsResult>(world, [&](auto done) { mine.async_try_acquire(1, done); });
      REQUIRE(another.arrived());
      lowered = plan->lowered;
      CHECK_FALSE(another.error());
      CHECK(another.result().permits.empty() == lowered);
      CHECK((another.result().reason == NotAcquired::blocked) == lowered);
      another.result().permits.clear();
      CHECK(world.run_until([&] { return leases(world).size() == 1; }));
      CHECK((lowered || at >= 5));
    }
    one.result().clear();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("semaphore: who asks for more than there are waits without leases until there are",
          "[semaphore]") {
  World world;
  auto client = world.client("observed");
  {
    InterProcessSemaphore mine = semaphore(*client, Relief::maximum_raised);
    std::size_t missing = 0;
    AcquireOptions options;
    options.on_position = [&](std::size_t now, const Participant&) { missing = now; };
    Outcome<std::vector<Lease>> five;
    mine.async_acquire(maximum + 2, options, five.handler());
    REQUIRE(world.run_until([&] { return missing == 2; }));
    CHECK(leases(world).empty());
    auto none =
        run<PermitsResult>(world, [&](auto done) { mine.async_try_acquire(maximum + 1, done); });
    CHECK_FALSE(none.result());
    CHECK(none.result().reason == NotAcquired::blocked);
    SharedCount{*client, "/maximum", maximum}.async_store(maximum + 2, [](error_code) {});
    REQUIRE(world.run_until_arrived(five));
    CHECK(five.result().size() == maximum + 2);
    five.result().clear();
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
  }
  CHECK(world.end(client));
}

TEST_CASE("semaphore: permits whose time is up before the last is had are not asked for again",
          "[semaphore]") {
  World world;
  auto client = world.client("observed");
  {
    InterProcessSemaphore mine{*client, path, maximum};
    AcquireOptions options;
    options.lease.hold_at_most = std::chrono::nanoseconds{1};
    const auto two = run<std::vector<Lease>>(
        world, [&](auto done) { mine.async_acquire(2, options, std::move(done)); });
    REQUIRE(two.arrived());
    CHECK(two.error() == Errc::lock_lost);
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return leases(world).empty(); }));
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::semaphore_turnstile_test
