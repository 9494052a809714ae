// inspect() at paths that are no queue, with a fault at each of its requests.

#include <iostream>

#include "custodian/inspect/inspect.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::inspect_recipes_test {
namespace {

const std::string id = "01234567-89ab-cdef-0123-456789abcdef";
const std::string own = "_c_" + id + "-";

using Nodes = std::vector<std::pair<std::string, std::string>>;

struct Scene {
  std::string name;
  Nodes nodes;
  std::string expected;
};

std::string text_of(const Participant& who) {
  return who.node.substr(who.node.size() - 2) + "=" + who.identity;
}

struct Summary {
  std::string operator()(std::monostate) const { return "nothing"; }
  std::string operator()(const InspectedCondition& condition) const {
    std::string text = "condition";
    for (const auto& each : condition.waiters) {
      text += " " + text_of(each.participant) + (each.is_signalled ? "!" : "");
    }
    for (const auto& each : condition.left_signals) text += " left " + each;
    return text;
  }
  std::string operator()(const InspectedDoubleBarrier& barrier) const {
    std::string text = "double barrier";
    for (const auto& each : barrier.members) {
      text += " " + text_of(each.participant) + (each.is_in ? "!" : "");
    }
    return text + (barrier.is_ready ? " ready" : "") + (barrier.is_stale ? " stale" : "");
  }
  std::string operator()(const InspectedPhases& phases) const {
    std::string text = "phase " + std::to_string(phases.phase);
    for (const auto& each : phases.arrivals) text += " " + text_of(each);
    return text + " left " + std::to_string(phases.left_over);
  }
  std::string operator()(const InspectedLatch& latch) const {
    return std::to_string(latch.arrivals) + " of " + std::to_string(latch.expected);
  }
  std::string operator()(const InspectedRate& rate) const {
    return "rate " + std::to_string(rate.cost.count());
  }
  std::string operator()(const InspectedValue& value) const {
    std::string text = "value " + value.data + " " + std::to_string(value.version);
    for (const auto& each : value.witnesses) text += " " + text_of(each);
    return text;
  }
};

std::string summary_of(const Inspection& seen) {
  std::string text = std::visit(Summary{}, seen.recipe);
  for (const std::string& node : seen.foreign) text += " foreign " + node;
  return text;
}

std::vector<Scene> scenes() {
  const std::string late = "_c_" + id + "-12345678-89ab-cdef-0123-456789abcde2";
  const std::string member = "_c_" + id + "-12345678-89ab-cdef-0123-456789abcde1";
  return {
      {"condition",
       {{"/p", ""},
        {"/p/" + own + "wait-0000000007", "lock"},
        {"/p/" + own + "wait-0000000003", "signalled"},
        {"/p/sig-" + own + "wait-0000000003", ""},
        {"/p/sig-" + own + "wait-0000000002", ""},
        {"/p/notes", ""}},
       "condition 03=! 07=lock left /p/sig-" + own + "wait-0000000002 foreign /p/notes"},
      {"double barrier",
       {{"/p", ""},
        {"/p/" + member, "one"},
        {"/p/" + late, "two"},
        {"/p/ready", "members:\n" + member + "\n"}},
       "double barrier e1=one! e2=two ready"},
      {"stale double barrier",
       {{"/p", ""}, {"/p/" + late, "two"}, {"/p/ready", "members:\n" + member + "\n"}},
       "double barrier e2=two ready stale"},
      {"ids that are of no session", {{"/p", ""}, {"/p/" + id, ""}}, "nothing foreign /p/" + id},
      {"phases",
       {{"/p", ""}, {"/p/" + own + "phase-0", "one"}, {"/p/" + own + "phase-4", "two"}},
       "phase 0 -0=one left 1"},
      {"latch", {{"/p", "3"}, {"/p/0000000000", id}, {"/p/notes", ""}}, "1 of 3 foreign /p/notes"},
      {"rate", {{"/p", "5 0 1700000000000 1"}}, "rate 5"},
      {"value", {{"/p", "some"}, {"/p/" + own + "witness", "one 4"}}, "value some 0 ss=one 4"},
  };
}

struct Run {
  std::string fault;
  std::size_t steps = 0;
};

Run look(const Scene& scene, const Faults& faults) {
  World world;
  for (const auto& [path, data] : scene.nodes) world.make(path, data);
  auto client = world.client("looking");
  const auto plan = std::make_shared<FaultsAt>("looking", faults);
  world.ensemble.set_fault_plan(plan);
  const auto seen =
      run<Inspection>(world, [&](auto done) { async_inspect(*client, "/p", {}, done); });
  Run result;
  if (!seen.arrived()) {
    result.fault = "it does not end";
  } else if (seen.error()) {
    result.fault = "it ends with " + seen.error().message();
  } else if (summary_of(seen.result()) != scene.expected) {
    result.fault = "it shows " + summary_of(seen.result());
  }
  if (!world.run_until_idle(*client)) result.fault += " operations or watches are left";
  if (!world.end(client)) result.fault += " something keeps the client alive";
  result.steps = plan->steps();
  return result;
}

TEST_CASE("inspect: barriers, latches, conditions and values are shown through every fault") {
  std::size_t cases = 0;
  for (const Scene& scene : scenes()) {
    INFO(scene.name);
    const Run plain = look(scene, {});
    REQUIRE(plain.fault.empty());
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        const Run run = look(scene, {{at, fault}});
        if (!run.fault.empty())
          FAIL_CHECK("request " << at << ": " << describe(fault) << ": " << run.fault);
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: inspect of recipes, each fault at each request\n";
}

TEST_CASE("inspect: members of another library's barrier are ephemeral nodes with ids for names") {
  World world;
  world.make("/p");
  auto member = world.client("member");
  const auto created = run<Created>(world, [&](auto done) {
    member->async_create("/p/" + id, "one", {.mode = CreateMode::ephemeral}, done);
  });
  REQUIRE_FALSE(created.error());
  const auto look_now = [&] {
    const auto seen =
        run<Inspection>(world, [&](auto done) { async_inspect(*member, "/p", {}, done); });
    REQUIRE_FALSE(seen.error());
    return summary_of(seen.result());
  };
  CHECK(look_now() == "double barrier ef=one");
  world.make("/p/ready");
  CHECK(look_now() == "double barrier ef=one! ready");
  CHECK(world.end(member));
}

}  // namespace
}  // namespace custodian::tests::inspect_recipes_test
