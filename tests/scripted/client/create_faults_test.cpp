// Protected creates: each ends with exactly one node, which the caller gets, or with none.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::create_faults_test {
namespace {

struct Played {
  std::size_t steps = 0;
  std::string violation;
};

CreateOptions protected_create(CreateMode mode) {
  CreateOptions options;
  options.mode = mode;
  options.protection = Protection::by_unique_name;
  options.parents = Parents::created_as_containers;
  if (has_ttl(mode)) options.ttl = std::chrono::hours{1};
  return options;
}

/// Creates a node below /p/q, and checks which nodes are there in the end.
Played play(const CreateOptions& options, const Faults& faults,
            const std::function<void(World&, std::size_t)>& at_step = {}) {
  World world;
  auto client = world.client_that_counts_strays("observed");
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  if (at_step) {
    plan->submitted = [&](std::size_t step) {
      boost::asio::post(world.context, [&world, &at_step, step] { at_step(world, step); });
    };
  }
  world.ensemble.set_fault_plan(plan);
  const auto created = run<Created>(
      world, [&](auto done) { client->async_create("/p/q/n-", "data", options, done); });
  Played played;
  const auto complain = [&](const std::string& what) {
    if (played.violation.empty()) played.violation = what;
  };
  if (!created.arrived()) {
    complain("it does not end");
  } else {
    const std::int64_t session = client->session().id;
    if (!world.run_until_idle(*client)) complain("something is left under way");
    // If the session ends while a surplus node is being deleted, the caller's node is gone, too.
    const bool gone = is_ephemeral(options.mode) && client->session().id != session;
    const std::size_t expected = created.error() || gone ? 0 : 1;
    // The surplus node is deleted soon, but in the background.
    if (!world.run_until([&] { return world.ensemble.children("/p/q").size() <= expected; })) {
      complain("nodes are left: " + std::to_string(world.ensemble.children("/p/q").size()));
    }
    if (!created.error() && created.result().stat.ephemeral_owner != session &&
        is_ephemeral(options.mode)) {
      complain("the node is another session's");
    }
    if (!created.error() && !gone) {
      const std::string& path = created.result().path;
      const auto names = world.ensemble.children("/p/q");
      if (names.empty() || "/p/q/" + names.front() != path) {
        complain("the node is not the one that was returned");
      }
      const Stat stat = world.ensemble.operate(request::Exists{path}).stat;
      if (stat != created.result().stat) complain("the metadata is another node's");
    } else if (created.error() && !options.retry) {
      complain("no node, but: " + created.error().message());
    }
  }
  if (world.strays != 0) complain("a node was left to be found later");
  if (!world.end(client)) complain("something keeps the client alive");
  played.steps = plan->steps();
  return played;
}

std::string describe(const Faults& faults) {
  std::string text;
  for (const auto& [at, fault] : faults) {
    text += "request " + std::to_string(at) + ": " + tests::describe(fault) + "; ";
  }
  return text;
}

constexpr CreateMode protected_modes[] = {
    CreateMode::persistent_sequential, CreateMode::ephemeral_sequential,
    CreateMode::persistent_sequential_with_ttl, CreateMode::ephemeral, CreateMode::persistent};

TEST_CASE("a protected create ends with one node, and it is the one returned") {
  for (const CreateMode mode : protected_modes) {
    const CreateOptions options = protected_create(mode);
    const std::size_t steps = play(options, {}).steps;
    REQUIRE(steps == 5);  // two parents are missing
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        const Played first = play(options, {{at, fault}});
        INFO("mode " << static_cast<int>(mode) << ", " << describe({{at, fault}}));
        CHECK(first.violation == "");
        if (at + 1 != steps) continue;  // later requests recover what a lost create made
        for (std::size_t next = at + 1; next < first.steps; ++next) {
          for (const Fault& another : all_faults()) {
            const Faults both{{at, fault}, {next, another}};
            const Played second = play(options, both);
            if (second.violation.empty()) continue;
            INFO("mode " << static_cast<int>(mode) << ", " << describe(both));
            CHECK(second.violation == "");
          }
        }
      }
    }
  }
}

TEST_CASE("a protected create that is not retried ends with one node or none") {
  for (const CreateMode mode :
       {CreateMode::ephemeral_sequential, CreateMode::persistent_sequential}) {
    CreateOptions options = protected_create(mode);
    options.retry = RetryPolicy::none();
    for (std::size_t at = 0; at < 5; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        for (std::size_t next = at + 1; next < at + 3; ++next) {
          const Faults both{{at, fault}, {next, {.kind = FaultKind::fail_before}}};
          const Played played = play(options, both);
          if (played.violation.empty()) continue;
          INFO("mode " << static_cast<int>(mode) << ", " << describe(both));
          CHECK(played.violation == "");
        }
      }
    }
  }
}

/// Loses the replies of all creates.
class LosesCreates final : public testing::FaultPlan {
 public:
  Fault on_submit(const Submission& submission) override {
    return {.kind = submission.kind == "create" ? FaultKind::fail_before : FaultKind::pass};
  }
};

TEST_CASE("a protected create is repeated for as long as its policy allows") {
  World world;
  auto client = world.client("observed");
  world.ensemble.set_fault_plan(std::make_shared<LosesCreates>());
  CreateOptions options = protected_create(CreateMode::ephemeral_sequential);
  options.retry = RetryPolicy::until_elapsed(brief_limit, std::chrono::milliseconds{1});
  const auto created =
      run<Created>(world, [&](auto done) { client->async_create("/n-", "", options, done); });
  CHECK(created.error() == ServerErrc::connection_loss);
  world.ensemble.set_fault_plan(nullptr);
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE("a protected create that its caller gives up leaves no node, whatever its reply") {
  const std::vector<Faults> replies{
      {},  // the reply arrives, but late
      {{0, {.kind = FaultKind::fail_after}}},
      {{0, {.kind = FaultKind::fail_after, .next_server = NextServer::lags_behind}}}};
  for (const Faults& faults : replies) {
    INFO(describe(faults));
    World world;
    auto client = world.client_that_counts_strays("observed");
    world.make("/q");
    boost::asio::cancellation_signal signal;
    const auto plan = std::make_shared<FaultsAt>("observed", faults);
    bool was_there = false;
    plan->replying = [&](std::size_t reply) {
      if (reply != 0) return;
      was_there = world.ensemble.children("/q").size() == 1;
      signal.emit(boost::asio::cancellation_type::total);
    };
    world.ensemble.set_fault_plan(plan);
    Outcome<Created> created;
    client->async_create("/q/n-", "", protected_create(CreateMode::ephemeral_sequential),
                         boost::asio::bind_cancellation_slot(signal.slot(), created.handler()));
    REQUIRE(world.run_until_arrived(created));
    CHECK(created.error() == boost::asio::error::operation_aborted);
    CHECK(was_there);
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return world.ensemble.children("/q").empty(); }));
    CHECK(world.strays == 0);
    CHECK(world.end(client));
  }
}

TEST_CASE("a protected create whose parent may not be listed any more does not cost the session") {
  for (const bool is_given_up : {true, false}) {
    World world;
    auto client = world.client("observed");
    world.make("/q");
    const std::int64_t session = client->session().id;
    boost::asio::cancellation_signal signal;
    const auto plan =
        std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::fail_before}}});
    plan->replying = [&](std::size_t reply) {
      if (reply != 0) return;
      world.ensemble.refuse("/q");
      if (is_given_up) signal.emit(boost::asio::cancellation_type::total);
    };
    world.ensemble.set_fault_plan(plan);
    Outcome<Created> created;
    client->async_create("/q/n", "", protected_create(CreateMode::ephemeral),
                         boost::asio::bind_cancellation_slot(signal.slot(), created.handler()));
    REQUIRE(world.run_until_arrived(created));
    if (is_given_up) {
      CHECK(created.error() == boost::asio::error::operation_aborted);
    } else {
      CHECK(created.error() == ServerErrc::no_auth);
    }
    CHECK(world.run_until_idle(*client));
    CHECK(client->session().id == session);
    CHECK(world.end(client));
  }
}

TEST_CASE("containers that are reaped between the steps are created again") {
  const CreateOptions options = protected_create(CreateMode::ephemeral_sequential);
  const std::size_t steps = play(options, {}).steps;
  for (std::size_t at = 0; at < steps; ++at) {
    const Played played = play(options, {}, [at](World& world, std::size_t step) {
      if (step != at || !world.ensemble.children("/p/q").empty()) return;
      world.ensemble.remove_tree("/p");
    });
    INFO("reaped with request " << at);
    CHECK(played.violation == "");
  }
}

TEST_CASE("a namespace comes into being with the first node") {
  World world;
  ClientOptions options = world.options("observed");
  options.name_space = "team/app";
  auto client = world.client(std::move(options));
  const auto created =
      run<Created>(world, [&](auto done) { client->async_create("/node", "", {}, done); });
  REQUIRE(created.arrived());
  CHECK_FALSE(created.error());
  CHECK(created.result().path == "/node");
  CHECK(world.ensemble.exists("/team/app/node"));
  CHECK(world.end(client));
}

TEST_CASE("a node of an earlier session with the same name is removed, not taken") {
  // The create is applied and its session ends; the client sees neither. A node with the name of
  // that session's node stays for now: only the servers know when an ended session's nodes go.
  World world;
  auto client = world.client("observed");
  world.make("/q");
  std::string stale;
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::expire_after}}});
  plan->submitted = [&](std::size_t step) {
    if (step != 1) return;
    const auto history = world.ensemble.history();
    stale = history.back().path + "0000000000";
    world.make(stale);  // persistent, so no session's end removes it
  };
  world.ensemble.set_fault_plan(plan);
  CreateOptions options = protected_create(CreateMode::ephemeral_sequential);
  const auto created =
      run<Created>(world, [&](auto done) { client->async_create("/q/n-", "", options, done); });
  REQUIRE(created.arrived());
  CHECK_FALSE(created.error());
  CHECK(created.result().path != stale);
  CHECK(created.result().stat.ephemeral_owner == client->session().id);
  CHECK(world.run_until_idle(*client));
  CHECK(world.ensemble.children("/q").size() == 1);
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::create_faults_test
