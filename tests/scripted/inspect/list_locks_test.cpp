// list_locks() with a fault, or a cancellation, at each of its requests: it finds what is there or
// returns an error, and leaves nothing behind.

#include "custodian/inspect/list_locks.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <set>

#include "custodian/inspect/wait_cycles.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests::list_locks_test {
namespace {

namespace asio = boost::asio;

/// A tree with one of each kind, and with folders between them.
void make_tree(World& world) {
  for (const char* path :
       {"/app", "/app/locks", "/app/locks/x", "/app/locks/y", "/app/semaphore",
        "/app/semaphore/leases", "/app/semaphore/locks", "/app/leader", "/app-two"}) {
    world.make(path);
  }
  world.make("/app/locks/x/lock-0000000003", "holder");
  world.make("/app/locks/x/lock-0000000007", "waiter");
  world.make("/app/locks/y/_c_01234567-89ab-cdef-0123-456789abcdef-__READ__0000000001", "reader");
  world.make("/app/semaphore/leases/lease-0000000000", "one");
  world.make("/app/leader/latch-0000000000", "leader");
}

std::string summary_of(const LockListing& listing) {
  std::string text;
  for (const ListedLock& each : listing.locks) {
    text += std::string{to_string(each.kind)} + ' ' + each.path + ' ' +
            std::to_string(each.contenders.size()) + "; ";
  }
  for (const std::string& path : listing.forbidden) text += "forbidden " + path + "; ";
  text += std::to_string(listing.nodes) + " nodes";
  return listing.is_complete ? text : text + ", and more";
}

constexpr std::string_view everything =
    "election /app/leader 1; mutex /app/locks/x 2; read/write /app/locks/y 1; "
    "semaphore /app/semaphore 1; 8 nodes";

/// Two at once, so that there is always one that waits for its turn.
constexpr ListOptions two_at_once{.parallelism = 2};

struct Scene {
  Faults faults{};
  std::optional<Cancel> cancel{};
};

std::string describe(const Scene& scene) {
  std::string text;
  for (const auto& [at, fault] : scene.faults) {
    text += "request " + std::to_string(at) + ": " + tests::describe(fault) + ' ';
  }
  if (scene.cancel) text += "cancelled at " + std::to_string(scene.cancel->at);
  return text;
}

/// One listing of the tree, which may be cancelled around one of its requests.
class Listing {
 public:
  explicit Listing(const Scene& scene)
      : scene_{scene}, plan_{std::make_shared<FaultsAt>("looking", scene.faults)} {
    make_tree(world_);
    if (scene.cancel) watch(*scene.cancel);
    world_.ensemble.set_fault_plan(plan_);
  }

  std::string run() {
    const auto seen = tests::run<LockListing>(world_, [&](auto done) {
      async_list_locks(*client_, "/app", two_at_once,
                       asio::bind_cancellation_slot(signal_.slot(), done));
    });
    std::string fault = judge(seen);
    if (!world_.run_until_idle(*client_)) fault += " operations or watches are left";
    if (!world_.end(client_)) fault += " something keeps the client alive";
    return fault;
  }
  [[nodiscard]] std::size_t steps() const { return plan_->steps(); }

 private:
  void watch(const Cancel& cancel) {
    const auto emit = [this, at = cancel.at](std::size_t now) {
      if (now == at) signal_.emit(asio::cancellation_type::total);
    };
    if (cancel.moment == CancelMoment::request_sent) plan_->submitted = emit;
    if (cancel.moment == CancelMoment::before_reply) plan_->replying = emit;
    if (cancel.moment == CancelMoment::after_reply) plan_->replied = emit;
  }
  template <typename Seen>
  std::string judge(const Seen& seen) const {
    if (!seen.arrived()) return "it does not end";
    if (scene_.cancel && seen.error() == asio::error::operation_aborted) {
      return seen.result().locks.empty() ? "" : "it is given up, and has a result";
    }
    if (seen.error()) return "it ends with " + seen.error().message();
    const std::string summary = summary_of(seen.result());
    return summary == everything ? "" : "it finds " + summary;
  }

  const Scene scene_;
  World world_;
  std::unique_ptr<Client> client_ = world_.client("looking");
  asio::cancellation_signal signal_;
  std::shared_ptr<FaultsAt> plan_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Scene& scene) {
    Listing listing{scene};
    add(listing.run(), [&] { return describe(scene); });
    return listing.steps();
  }
};

TEST_CASE("list locks: what is below a path is found through every fault, and nothing is left") {
  Tally tally{"a list of locks"};
  const std::size_t steps = tally.play({});
  // Of each node the children; of each lock the children again (a semaphore's are three nodes), and
  // the contenders.
  REQUIRE(steps == 8 + 6 + 5);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) tally.play({.faults = {{at, fault}}});
  }
}

TEST_CASE("list locks: it may be given up at every moment") {
  Tally tally{"a list of locks, given up"};
  const std::size_t steps = tally.play({});
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      tally.play({.cancel = Cancel{moment, at}});
    }
  }
}

/// What a client finds at the path in a world with the tree.
LockListing list(World& world, const std::string& path, ListOptions options = {}) {
  auto client = world.client("looking");
  auto seen =
      run<LockListing>(world, [&](auto done) { async_list_locks(*client, path, options, done); });
  REQUIRE(seen.arrived());
  REQUIRE_FALSE(seen.error());
  CHECK(world.end(client));
  return std::move(seen.result());
}

TEST_CASE("list locks: what may not be read is named, and the rest is found") {
  World world;
  make_tree(world);
  world.ensemble.refuse("/app/locks/x");
  world.ensemble.refuse("/app/leader/latch-0000000000");
  CHECK(summary_of(list(world, "/app")) ==
        "read/write /app/locks/y 1; semaphore /app/semaphore 1; forbidden /app/leader; "
        "forbidden /app/locks/x; 8 nodes");
}

TEST_CASE("list locks: a tree that is too large is listed in part, and the listing says so") {
  World world;
  make_tree(world);
  CHECK(summary_of(list(world, "/app", {.max_nodes = 2})) ==
        "election /app/leader 1; 2 nodes, and more");
  CHECK(list(world, "/app", {.max_nodes = 8}).is_complete);
}

TEST_CASE("list locks: below a path that does not exist there is nothing") {
  World world;
  CHECK(summary_of(list(world, "/none")) == "1 nodes");
}

TEST_CASE("list locks: two processes that wait for each other are found") {
  World world;
  auto one = world.client("one");
  auto two = world.client("two");
  {
    InterProcessMutex x1{*one, "/x"};
    InterProcessMutex y1{*one, "/y"};
    InterProcessMutex x2{*two, "/x"};
    InterProcessMutex y2{*two, "/y"};
    auto holds_x = run<Lease>(world, [&](auto done) { x1.async_acquire(done); });
    auto holds_y = run<Lease>(world, [&](auto done) { y2.async_acquire(done); });
    REQUIRE(holds_x.arrived());
    REQUIRE(holds_y.arrived());
    int granted = 0;
    const auto grant = [&](error_code error, Lease) {
      if (!error) ++granted;
    };
    y1.async_acquire(grant);
    x2.async_acquire(grant);
    REQUIRE(world.run_until([&] {
      return world.ensemble.children("/x").size() == 2 && world.ensemble.children("/y").size() == 2;
    }));
    const std::vector<WaitCycle> cycles = find_wait_cycles(list(world, "/").locks);
    REQUIRE(cycles.size() == 1);
    REQUIRE(cycles[0].waits.size() == 2);
    CHECK(std::set{cycles[0].waits[0].wanted, cycles[0].waits[1].wanted} ==
          std::set<std::string>{"/x", "/y"});
    // One of them gives up what it holds, and there is no circle any more.
    holds_x.result().release();
    REQUIRE(world.run_until([&] { return granted == 1; }));
    CHECK(find_wait_cycles(list(world, "/").locks).empty());
    holds_y.result().release();
    REQUIRE(world.run_until([&] { return granted == 2; }));
  }
  CHECK(world.end(one));
  CHECK(world.end(two));
}

TEST_CASE("list locks: bad arguments are refused at once, and a closed client says so") {
  World world;
  auto client = world.client("looking");
  const auto ignore = [](error_code, LockListing) {};
  CHECK_THROWS_AS(async_list_locks(*client, "p", {}, ignore), Error);
  CHECK_THROWS_AS(async_list_locks(*client, "/p", {.parallelism = 0}, ignore), Error);
  CHECK_THROWS_AS(async_list_locks(*client, "/p", {.max_nodes = 0}, ignore), Error);
  client->close();
  const auto seen =
      run<LockListing>(world, [&](auto done) { async_list_locks(*client, "/p", {}, done); });
  REQUIRE(seen.arrived());
  CHECK(seen.error() == Errc::closed);
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::list_locks_test
