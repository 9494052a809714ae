// Upserts with a fault at each request: each ends with the right node, or reports that the outcome
// is unknown.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>

#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::upsert_faults_test {
namespace {

constexpr auto path = "/p/n";

/// The state before the upsert.
enum class Before { node, parent, nothing };

struct Case {
  Before before = Before::node;
  Faults faults{};
  UpsertOptions options{.parents = Parents::created_as_containers};
  std::optional<std::size_t> cancelled_at{};
  std::optional<std::chrono::milliseconds> limit{};
};

struct Played {
  std::size_t steps = 0;
  std::string violation{};
  error_code error{};
};

bool hides_the_outcome(const Fault& fault) {
  return fault.kind == FaultKind::fail_before || fault.kind == FaultKind::fail_after ||
         fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

/// The request at which a fault hid the outcome, if it was a write of the node.
bool has_lost_a_write(const Case& played, const std::vector<testing::Submission>& history) {
  return std::ranges::any_of(played.faults, [&](const auto& each) {
    const auto& [at, fault] = each;
    return hides_the_outcome(fault) && at < history.size() && history[at].kind == "set";
  });
}

std::string judge(const Case& played, World& world, const Outcome<Upserted>& outcome) {
  if (!outcome.arrived()) return "it does not end";
  const auto history = world.ensemble.history();
  const Reply now = world.ensemble.operate(request::Get{path});
  const error_code error = outcome.error();
  const bool was_there = played.before == Before::node;
  if (!error) {
    const Upserted& ended = outcome.result();
    if (now.error || now.data != "mine") return "it was not written";
    if (ended.created == was_there) return "created, or not, and should have been otherwise";
    if (now.stat.mzxid != ended.stat.mzxid) return "the metadata are not those of the write";
    if (now.stat.version != (was_there ? 1 : 0)) return "it was written twice";
  } else if (played.options.retry && error == Errc::not_connected) {
    if (!now.error && now.data == "mine") return "written with an error";
  } else if (!played.cancelled_at || error != boost::asio::error::operation_aborted) {
    if (error != ErrorCondition::outcome_unknown) return "it fails: " + error.message();
    if (!has_lost_a_write(played, history) && !played.options.retry) {
      return "the outcome is known, but: " + error.message();
    }
  }
  // A write that is sent again might undo another client's.
  for (const auto& [at, fault] : played.faults) {
    const bool doubtful = hides_the_outcome(fault) && at < history.size();
    if (doubtful && history[at].kind == "set" && at + 1 != history.size()) {
      return "something follows a write of which nobody knows whether it was applied";
    }
  }
  return {};
}

Played play(const Case& played, const std::function<void(World&, std::size_t reply)>& act = {}) {
  EndingWorld world;
  auto client = world.client("mine");
  if (played.before != Before::nothing) world.make("/p");
  if (played.before == Before::node) world.make(path, "old");
  world.ensemble.clear_history();
  boost::asio::cancellation_signal signal;
  const auto plan = std::make_shared<FaultsAt>("mine", played.faults);
  plan->submitted = [&](std::size_t step) {
    if (played.cancelled_at == step) {
      boost::asio::post(client->get_executor(),
                        [&] { signal.emit(boost::asio::cancellation_type::all); });
    }
  };
  plan->replying = [&](std::size_t reply) {
    if (act) act(world, reply);
  };
  world.ensemble.set_fault_plan(plan);
  const auto outcome = run<Upserted>(world, [&](auto done) {
    UpsertOptions options = played.options;
    if (played.limit) options.deadline = *played.limit;
    client->async_upsert(path, "mine", std::move(options),
                         boost::asio::bind_cancellation_slot(signal.slot(), done));
  });
  Played ended{.steps = plan->steps(), .violation = judge(played, world, outcome)};
  if (outcome.arrived()) ended.error = outcome.error();
  world.ensemble.set_fault_plan(nullptr);
  world.ensemble.release_replies();
  if (!world.run_until_idle(*client)) ended.violation += "; requests are left";
  if (!world.end(client)) ended.violation += "; something keeps the client alive";
  return ended;
}

std::string describe(const Case& played) {
  constexpr const char* names[] = {"a node", "a parent", "nothing"};
  std::string text = names[static_cast<int>(played.before)];
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (played.cancelled_at) text += "; cancelled with " + std::to_string(*played.cancelled_at);
  return text;
}

std::size_t checked(const Case& played) {
  const Played ended = play(played);
  INFO(describe(played));
  CHECK(ended.violation == "");
  return ended.steps;
}

constexpr Before befores[] = {Before::node, Before::parent, Before::nothing};

TEST_CASE("upsert: every fault at every request, and any two, leave the right node or a doubt") {
  Sample sample;
  for (const Before before : befores) {
    const std::size_t steps = checked({.before = before});
    CHECK(steps == (before == Before::node ? 1 : before == Before::parent ? 2 : 4));
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        const std::size_t longer = checked({.before = before, .faults = {{at, fault}}});
        for (std::size_t next = at + 1; next < std::min(longer, at + 4); ++next) {
          for (const Fault& another : all_faults()) {
            if (!sample.takes_next()) continue;
            checked({.before = before, .faults = {{at, fault}, {next, another}}});
          }
        }
      }
    }
  }
}

TEST_CASE("upsert: one that is not retried is honest about it") {
  for (const Before before : befores) {
    Case each{.before = before};
    each.options.retry = RetryPolicy::none();
    const std::size_t steps = checked(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
        each.faults = {{at, {.kind = kind}}};
        checked(each);
      }
    }
  }
}

TEST_CASE("upsert: a cancelled one ends, at every moment") {
  for (const Before before : befores) {
    const std::size_t steps = checked({.before = before});
    for (std::size_t at = 0; at < steps; ++at) {
      checked({.before = before, .cancelled_at = at});
      checked({.before = before,
               .faults = {{at, {.kind = FaultKind::fail_after}}},
               .cancelled_at = at + 1});
    }
  }
}

/// The create is lost, and another process does something before it is repeated.
Played play_lost_create(FaultKind kind, const std::function<void(World&)>& act) {
  return play({.before = Before::parent, .faults = {{1, {.kind = kind}}}},
              [act](World& world, std::size_t reply) {
                if (reply == 1) act(world);
              });
}

TEST_CASE("upsert: whether a create was applied is not known if another has written the node") {
  const Played ended = play_lost_create(FaultKind::fail_after, [](World& world) {
    world.ensemble.operate(request::Set{path, "another's"});
  });
  CHECK(ended.error == ServerErrc::connection_loss);
  const Played same = play_lost_create(FaultKind::fail_after, [](World& world) {
    world.ensemble.operate(request::Set{path, "another's"});
    world.ensemble.operate(request::Set{path, "mine"});
  });
  CHECK(same.error == ServerErrc::connection_loss);
}

TEST_CASE("upsert: whether a create was applied is not known if another has created the node") {
  const Played ended =
      play_lost_create(FaultKind::fail_before, [](World& world) { world.make(path, "another's"); });
  CHECK(ended.error == ServerErrc::connection_loss);
}

TEST_CASE("upsert: a lost create of a node that is removed meanwhile is repeated") {
  const Played ended =
      play_lost_create(FaultKind::fail_after, [](World& world) { world.remove(path); });
  CHECK(ended.violation == "");
  CHECK_FALSE(ended.error);
}

TEST_CASE("upsert: a lost create that cannot be looked at is not known") {
  const Played ended =
      play({.before = Before::parent, .faults = {{1, {.kind = FaultKind::fail_after}}}},
           [](World& world, std::size_t reply) {
             if (reply == 2) world.ensemble.refuse(path);
           });
  CHECK(ended.error == ServerErrc::connection_loss);
}

TEST_CASE("upsert: a create that is not answered in time is not known") {
  const Played ended = play({.before = Before::parent,
                             .faults = {{1, {.kind = FaultKind::delay}}},
                             .limit = brief_limit});
  CHECK(ended.error == Errc::deadline_exceeded_outcome_unknown);
}

TEST_CASE("upsert: its deadline covers the look behind a lost create") {
  // The look is never answered.
  const Played ended =
      play({.before = Before::parent,
            .faults = {{1, {.kind = FaultKind::fail_after}}, {3, {.kind = FaultKind::delay}}},
            .limit = brief_limit});
  CHECK(ended.error == Errc::deadline_exceeded_outcome_unknown);
}

}  // namespace
}  // namespace custodian::tests::upsert_faults_test
