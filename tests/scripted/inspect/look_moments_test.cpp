// Looks at recipes and elections whose nodes change, or are odd, between two requests.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <stdexcept>

#include "custodian/inspect/inspect.hpp"
#include "custodian/inspect/list_locks.hpp"
#include "custodian/inspect/wait_cycles.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/moments.hpp"
#include "support/catch.hpp"

namespace custodian::tests::look_moments_test {
namespace {

const std::string id = "01234567-89ab-cdef-0123-456789abcdef";
const std::string other_id = "11234567-89ab-cdef-0123-456789abcdef";
const std::string own = "_c_" + id + "-";

struct Looking {
  World world{};
  std::unique_ptr<Client> client = world.client("looking");

  explicit Looking(const std::vector<std::pair<std::string, std::string>>& nodes) {
    for (const auto& [path, data] : nodes) world.make(path, data);
  }
  ~Looking() { CHECK(world.end(client)); }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

  [[nodiscard]] Outcome<Inspection> look() {
    const auto seen = run<Inspection>(
        world, [&](auto done) { async_inspect(*client, "/x", InspectOptions{}, std::move(done)); });
    REQUIRE(seen.arrived());
    return seen;
  }
  /// Deletes this node when it is read.
  [[nodiscard]] Outcome<Inspection> look_without(const std::string& node) {
    const auto plan = std::make_shared<Moments>("looking");
    plan->before({.kind = "get", .path = node}, [this, node] { world.remove(node); });
    world.ensemble.set_fault_plan(plan);
    const auto seen = look();
    CHECK(plan->have_come());
    world.ensemble.set_fault_plan(nullptr);
    return seen;
  }
};

TEST_CASE("inspect: a queue that has malformed numbers alone is no value") {
  Looking looking{{{"/x", "data"}, {"/x/lock-abc", ""}}};
  const auto seen = looking.look();
  REQUIRE_FALSE(seen.error());
  CHECK(seen.result().malformed == std::vector<std::string>{"/x/lock-abc"});
  CHECK(std::holds_alternative<std::monostate>(seen.result().recipe));
}

TEST_CASE("inspect: a double barrier whose ready node goes during the look is not ready") {
  Looking looking{{{"/x", ""}, {"/x/" + own + other_id, "one"}, {"/x/ready", ""}}};
  const auto seen = looking.look_without("/x/ready");
  REQUIRE_FALSE(seen.error());
  const auto& barrier = std::get<InspectedDoubleBarrier>(seen.result().recipe);
  CHECK(barrier.members.size() == 1);
  CHECK_FALSE(barrier.is_ready);
  CHECK_FALSE(barrier.is_stale);
}

TEST_CASE("inspect: a member that goes during the look is not shown") {
  const std::string first = "/x/" + own + other_id;
  const std::string second = "/x/_c_" + other_id + "-" + id;
  Looking looking{{{"/x", ""}, {first, "one"}, {second, "two"}}};
  const auto seen = looking.look_without(first);
  REQUIRE_FALSE(seen.error());
  const auto& barrier = std::get<InspectedDoubleBarrier>(seen.result().recipe);
  REQUIRE(barrier.members.size() == 1);
  CHECK(barrier.members.front().participant.node == second);
}

TEST_CASE("inspect: a node that may be a member's and goes during the look is nothing") {
  Looking looking{{{"/x", ""}, {"/x/" + id, ""}}};
  const auto seen = looking.look_without("/x/" + id);
  REQUIRE_FALSE(seen.error());
  CHECK(std::holds_alternative<std::monostate>(seen.result().recipe));
}

TEST_CASE("inspect: a value whose witness may not be read is an error") {
  Looking looking{{{"/x", "data"}, {"/x/" + own + "witness", ""}}};
  REQUIRE_FALSE(looking.look().error());
  looking.world.ensemble.refuse("/x/" + own + "witness");
  CHECK(looking.look().error() == ServerErrc::no_auth);
}

// -- Circles of waits -----------------------------------------------------------------------------

ListedLock lock(const std::string& path, const std::vector<std::int64_t>& holders,
                std::int64_t waiter, ListedKind kind = ListedKind::mutex) {
  ListedLock made{.path = path, .kind = kind};
  const auto add = [&](std::int64_t session, Standing standing) {
    made.contenders.push_back(
        {.participant = {.node = path + "/" + std::to_string(session), .session = session},
         .standing = standing});
  };
  for (const std::int64_t each : holders) add(each, Standing::holds);
  add(waiter, Standing::waits);
  return made;
}

TEST_CASE("wait cycles: a holder whose own wait ends lets others go on") {
  // 4 goes on, so 3 gets its lock and returns its permit to 2, which releases what 1 waits for.
  const std::vector locks{lock("/b", {2}, 1), lock("/s", {1, 3}, 2, ListedKind::semaphore),
                          lock("/m", {4}, 3)};
  CHECK(find_wait_cycles(locks).empty());
  // Without 3's permit there is a circle.
  CHECK(find_wait_cycles({lock("/b", {2}, 1), lock("/s", {1}, 2, ListedKind::semaphore)}).size() ==
        1);
}

// -- Elections ------------------------------------------------------------------------------------

constexpr auto election = "/election";

using Leader = Outcome<std::optional<Participant>>;

TEST_CASE("leader observer: candidates with malformed numbers are an error") {
  EndingWorld world;
  const auto client = world.client("observing");
  LeaderObserver observer{*client, election};
  world.make(election);
  world.make("/election/latch-0000000001");
  world.make("/election/latch-");
  Leader leader;
  observer.async_next(leader.handler());
  REQUIRE(world.run_until_arrived(leader));
  CHECK(leader.error() == Errc::malformed_contender);
}

TEST_CASE("leader observer: a server that lags does not show a leader again that has gone") {
  EndingWorld world{std::chrono::hours{1}};
  const std::string node = "/election/latch-0000000001";
  world.make(election);
  world.make(node);
  world.ensemble.leave_server_behind();
  const auto client = world.client("observing");
  LeaderObserver observer{*client, election};
  const auto next = [&] {
    Leader leader;
    observer.async_next(leader.handler());
    return leader;
  };
  const Leader first = next();
  REQUIRE(world.run_until_arrived(first));
  REQUIRE(first.result());
  world.ensemble.leave_server_behind();
  world.remove(node);
  // A sync makes the present server show the deletion.
  const auto synced =
      run<>(world, [&](auto done) { client->async_sync(election, {}, std::move(done)); });
  REQUIRE(synced.arrived());
  const Leader second = next();
  REQUIRE(world.run_until_arrived(second));
  REQUIRE_FALSE(second.error());
  CHECK_FALSE(second.result());
  const Leader third = next();
  world.settle();
  world.ensemble.clear_history();
  world.ensemble.expire(client->session().id);
  REQUIRE(world.run_until([&] {
    const auto history = world.ensemble.history();
    return std::ranges::any_of(
        history, [&](const Submission& each) { return each.kind == "get" && each.path == node; });
  }));
  world.settle();
  CHECK_FALSE(third.arrived());
}

TEST_CASE("leader selector: a leader's exception that nobody wants to know of ends its turn") {
  EndingWorld world;
  const auto client = world.client("leading");
  int begun = 0;
  LeaderSelectorOptions options;
  options.executor = world.context.get_executor();
  LeaderSelector selector{*client, election,
                          [&](Lease, std::stop_token) -> boost::asio::awaitable<void> {
                            ++begun;
                            throw std::runtime_error{"the leader has failed"};
                            co_return;
                          },
                          std::move(options)};
  selector.start();
  REQUIRE(world.run_until([&] { return begun == 1; }));
  REQUIRE(world.run_until([&] { return world.ensemble.children(election).empty(); }));
  CHECK_NOTHROW(world.settle());
  CHECK(selector.requeue());
  CHECK(world.run_until([&] { return begun == 2; }));
}

}  // namespace
}  // namespace custodian::tests::look_moments_test
