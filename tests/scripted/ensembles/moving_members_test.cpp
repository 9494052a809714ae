// The members of a moving map: how sessions join and announce, with a fault at each request.

#include "custodian/authoring/spawn.hpp"
#include "ensembles/copy_requests.hpp"
#include "scripted/cancel_moment.hpp"
#include "scripted/ensembles/moving_world.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::moving_members_test {
namespace {

using namespace moving_world;

/// Joins at both ensembles.
bool join(Ensembles& ensembles, MapProcess& process) {
  for (const char* each : names) process.follower->start_joining(each);
  return ensembles.world.run_until(
      [&] { return process.follower->is_member("east") && process.follower->is_member("west"); });
}

bool has_announced(const Ensembles& ensembles, std::int64_t version) {
  for (std::size_t at = 0; at < 2; ++at) {
    const auto members = members_at(ensembles, at);
    if (members.empty() || members.begin()->first != version) return false;
  }
  return true;
}

TEST_CASE("moving members: a session joins under the version of its copy, and announces the next",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  CHECK(has_announced(ensembles, 3));
  publish_by_hand(ensembles, 4, 1);
  CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 4); }));
  publish_by_hand(ensembles, 5, 1);
  CHECK(ensembles.world.run_until([&] { return mine.follower->view()->version() == 5; }));
  CHECK(has_announced(ensembles, 4));
  publish_by_hand(ensembles, 6, 1);
  CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 6); }));
  CHECK(mine.end(ensembles));
  for (std::size_t at = 0; at < 2; ++at) CHECK(members_at(ensembles, at).empty());
}

TEST_CASE(
    "moving members: a session that joins while the map is turned is a member of that version",
    "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  publish_by_hand(ensembles, 5, 1);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  CHECK(has_announced(ensembles, 5));
  publish_by_hand(ensembles, 6, 1);
  CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 6); }));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving members: a hold at the old home alone is not announced", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  {
    FakeClaim claim{mine};
    claim.now = {ClaimPhase::holding, {"east"}};
    publish_by_hand(ensembles, 4, 1);
    REQUIRE(ensembles.world.run_until([&] { return mine.follower->view()->version() == 4; }));
    CHECK(claim.changes > 0);
    ensembles.world.run_for(std::chrono::milliseconds{20});
    CHECK(has_announced(ensembles, 3));
    claim.now.locks = {"east", "west"};
    CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 4); }));
    claim.now = {ClaimPhase::acquiring, {}, "east"};
    publish_by_hand(ensembles, 6, 1);
    REQUIRE(ensembles.world.run_until([&] { return mine.follower->view()->version() == 6; }));
    ensembles.world.run_for(std::chrono::milliseconds{20});
    CHECK(has_announced(ensembles, 4));
    claim.now.waits_at = "west";
    CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 6); }));
  }
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving members: a member announces only what its own ensemble's copy has",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  const MapCopy next = copy_after(*copy_at(ensembles, 0), 1);
  // A publisher makes all folders before it writes a copy.
  ensembles.make(1, std::string{copy_path} + "/members/4", {});
  write_copy_at(ensembles, 0, next);
  REQUIRE(ensembles.world.run_until([&] { return members_at(ensembles, 0).begin()->first == 4; }));
  ensembles.world.run_for(std::chrono::milliseconds{20});
  CHECK(members_at(ensembles, 1).begin()->first == 3);
  write_copy_at(ensembles, 1, next);
  CHECK(ensembles.world.run_until([&] { return has_announced(ensembles, 4); }));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving members: a session that joins goes by what the client has learnt elsewhere",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  const MapCopy next = copy_after(*copy_at(ensembles, 0), 1);
  ensembles.make(1, std::string{copy_path} + "/members/4", {});
  write_copy_at(ensembles, 0, next);
  MapProcess mine{ensembles, "mine"};
  const auto knows = [&] { return mine.follower->view() && mine.follower->view()->version() == 4; };
  REQUIRE(ensembles.world.run_until(knows));
  mine.follower->start_joining("west");
  REQUIRE(ensembles.world.run_until([&] { return mine.follower->is_member("west"); }));
  CHECK(members_at(ensembles, 1).begin()->first == 4);
  CHECK(copy_at(ensembles, 1)->version == 3);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving members: a process that begins before the map joins when there is one",
          "[ensembles]") {
  Ensembles ensembles;
  MapProcess mine{ensembles, "mine"};
  for (const char* each : names) mine.follower->start_joining(each);
  ensembles.world.settle();
  CHECK_FALSE(mine.follower->view());
  make_map(ensembles);
  REQUIRE(ensembles.world.run_until([&] { return has_announced(ensembles, 3); }));
  CHECK(mine.end(ensembles));
}

/// A join at the first ensemble, by itself.
struct JoinAtEast {
  JoinAtEast(Ensembles& ensembles, const RetryPolicy& retry, Faults faults = {})
      : plan{std::make_shared<FaultsAt>("mine", std::move(faults))} {
    ClientOptions options = ensembles.world.options("mine");
    options.retry = retry;
    client = ensembles.world.client(std::move(options));
    cancellation = std::make_shared<Cancellation>(client->core());
    ensembles.world.ensemble.set_fault_plan(plan);
  }
  void start() {
    const auto place = std::make_shared<const recipes_detail::CopyPlace>(recipes_detail::CopyPlace{
        .name = "east", .client = client->share(), .path = copy_path, .member = "mine"});
    spawn(client->core(), "a join", recipes_detail::join_map(place, 0, cancellation),
          joined.handler());
  }

  std::shared_ptr<FaultsAt> plan;  ///< its step 0 reads the copy, and step 1 creates the member
  std::unique_ptr<Client> client;
  CancellationPtr cancellation;
  Outcome<recipes_detail::Membership> joined;
};

TEST_CASE("moving members: a join whose copy has changed under way pauses before the next try",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  JoinAtEast join{ensembles, RetryPolicy::n_times(1, std::chrono::hours{1})};
  join.plan->submitted = [&](std::size_t step) {
    if (step == 1) publish_by_hand(ensembles, 4, 1);
  };
  join.start();
  REQUIRE(ensembles.world.run_until([&] { return join.plan->steps() == 2; }));
  ensembles.world.settle();
  CHECK(join.plan->steps() == 2);
  CHECK_FALSE(join.joined.arrived());
  CHECK(members_at(ensembles, 0).empty());
  join.cancellation->request();
  REQUIRE(ensembles.world.run_until_arrived(join.joined));
  CHECK(join.joined.error() == boost::asio::error::operation_aborted);
}

TEST_CASE("moving members: a join in doubt ends with an error that does not pass", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  const RetryPolicy retry = ensembles.world.options("mine").retry;
  JoinAtEast join{ensembles, retry, {{1, {.kind = testing::FaultKind::fail_before}}}};
  join.plan->submitted = [&](std::size_t step) {
    if (step == 2) ensembles.world.ensemble.refuse(std::string{copy_path} + "/members/3");
  };
  join.start();
  REQUIRE(ensembles.world.run_until_arrived(join.joined));
  CHECK(join.joined.error() == ServerErrc::no_auth);
  CHECK(join.plan->steps() == 3);
  CHECK(members_at(ensembles, 0).empty());
}

TEST_CASE("moving members: a copy of another map is not followed", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  MapCopy other = copy_after(*copy_at(ensembles, 0), 1);
  other.generations.front() = layout_at(1);
  other.generations.front().version = 1;
  write_copy_at(ensembles, 1, other);
  ensembles.world.run_for(std::chrono::milliseconds{20});
  CHECK(mine.follower->view()->version() == 3);
  CHECK(has_announced(ensembles, 3));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving members: a new session is a member only after it has joined anew",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  REQUIRE(join(ensembles, mine));
  const std::int64_t before = mine.east->session().id;
  ensembles.world.ensemble.expire(before);
  REQUIRE(ensembles.world.run_until([&] { return mine.east->session().id != before; }));
  CHECK_FALSE(mine.follower->is_member("east"));
  CHECK(mine.follower->is_member("west"));
  CHECK(members_at(ensembles, 0).empty());
  REQUIRE(join(ensembles, mine));
  CHECK(members_at(ensembles, 0).size() == 1);
  CHECK(mine.end(ensembles));
}

// -- Faults ---------------------------------------------------------------------------------------

/// A process joins, and announces a whole move, with faults at one ensemble.
struct MemberRun {
  std::string violation{};
  std::size_t steps = 0;
};

MemberRun play_member(std::size_t faulty, const Faults& faults) {
  MemberRun run;
  const auto complain = [&](const std::string& what) {
    if (run.violation.empty()) run.violation = what;
  };
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  ensembles.world.settle();
  const auto plan = std::make_shared<FaultsAt>(std::string{"mine-"} + names.at(faulty), faults);
  ensembles.all.at(faulty)->set_fault_plan(plan);
  // A session that is lost later has no member, and keeps nothing waiting.
  const auto at_most = [&](std::int64_t version) {
    return ensembles.world.run_until([&] {
      for (std::size_t at = 0; at < 2; ++at) {
        const auto members = members_at(ensembles, at);
        if (!members.empty() && members.begin()->first < version) return false;
        if (mine.follower->view()->version() < version) return false;
      }
      return true;
    });
  };
  if (!join(ensembles, mine)) complain("it does not join");
  for (const std::int64_t version : {4, 5, 6}) {
    publish_by_hand(ensembles, version, 1);
    if (!at_most(version == 5 ? 4 : version)) {
      complain("it does not announce " + std::to_string(version));
    }
  }
  run.steps = plan->steps();
  for (testing::FakeEnsemble* each : ensembles.all) {
    each->release_replies();
    each->apply_late_requests();
  }
  for (std::size_t at = 0; at < 2; ++at) {
    const auto members = members_at(ensembles, at);
    if (members.size() > 1) complain("a session is two members");
    if (!members.empty() && members.begin()->first != 6) complain("a former member is left");
  }
  if (!mine.end(ensembles)) complain("something is left, or keeps a client alive");
  return run;
}

TEST_CASE("moving members: every fault at every request leaves one member, or none",
          "[ensembles]") {
  Plays plays{"a member, one fault"};
  for (const std::size_t faulty : {0U, 1U}) {
    const std::size_t steps = play_member(faulty, {}).steps;
    CHECK(steps >= 6);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(faults_and_late_ones())) {
        plays.add(play_member(faulty, {{at, fault}}).violation, [&] {
          return std::string{names.at(faulty)} + ", request " + std::to_string(at) + ": " +
                 tests::describe(fault);
        });
      }
    }
  }
}

TEST_CASE("moving members: every pair of faults leaves one member, or none", "[ensembles]") {
  Plays plays{"a member, two faults"};
  Sample sample;
  const std::size_t steps = play_member(0, {}).steps;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : faults_and_late_ones()) {
      for (std::size_t next = at + 1; next < at + 3; ++next) {
        for (const Fault& another : all_faults()) {
          if (!sample.takes_next()) continue;
          plays.add(play_member(0, {{at, fault}, {next, another}}).violation, [&] {
            return "request " + std::to_string(at) + ": " + tests::describe(fault) + "; request " +
                   std::to_string(next) + ": " + tests::describe(another);
          });
        }
      }
    }
  }
}

TEST_CASE("moving members: a version that is published while a session joins counts for it",
          "[ensembles]") {
  Plays plays{"a version while a session joins"};
  for (std::size_t step = 0; step < 8; ++step) {
    for (const Fault& fault : sampled(faults_and_late_ones())) {
      for (const std::size_t at : {step, step + 1}) {
        Ensembles ensembles;
        make_map(ensembles);
        MapProcess mine{ensembles, "mine"};
        ensembles.world.settle();
        const auto plan = std::make_shared<FaultsAt>("mine-east", Faults{{at, fault}});
        std::set<std::pair<std::int64_t, std::string>> before;
        bool is_published = false;
        plan->submitted = [&](std::size_t now) {
          if (now != step || std::exchange(is_published, true)) return;
          before = members_at(ensembles, 0);
          publish_by_hand(ensembles, 4, 1);
        };
        ensembles.world.ensemble.set_fault_plan(plan);
        FakeClaim claim{mine};
        claim.now = {ClaimPhase::holding, {"east"}};  // nothing is announced
        const bool joined = join(ensembles, mine);
        ensembles.world.ensemble.apply_late_requests();
        std::string violation = joined ? "" : "it does not join";
        for (const auto& each : members_at(ensembles, 0)) {
          if (is_published && each.first == 3 && !before.contains(each)) {
            violation = "a session has joined below the version of the copy";
          }
        }
        plays.add(violation, [&] {
          return "published at " + std::to_string(step) + "; request " + std::to_string(at) + ": " +
                 tests::describe(fault);
        });
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::moving_members_test
