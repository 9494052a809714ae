// A quorum lock over three ensembles, with every fault at every request of each.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <iostream>
#include <set>

#include "custodian/lock_sets/quorum_lock.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/lock_sets/quorum.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::quorum_lock_faults_test {

namespace asio = boost::asio;

namespace {

using quorum::Ensembles;
using quorum::QuorumContender;

/// The nodes of a group. Each name has a uuid, so no two are alike, whatever their ensembles.
std::set<std::string> nodes_of(const LeaseGroup& leases) {
  std::set<std::string> nodes;
  for (const Lease& lease : leases.leases()) nodes.insert(lease.node());
  return nodes;
}

/// "other" holds the lock in all ensembles, and releases when "observed" waits. One client of
/// "observed" meets a fault, or its acquire is cancelled; then "other" acquires again. Returns what
/// is wrong, and an empty text if nothing is.
std::string play_quorum(std::size_t where, const Faults& faults, std::optional<Cancel> cancel,
                        std::size_t* steps = nullptr) {
  Ensembles ensembles;
  World& world = ensembles.world;
  QuorumContender observed{ensembles, "observed"};
  QuorumContender other{ensembles, "other"};
  LeaseGroup held = other.acquired();
  const auto nodes_before = nodes_of(held);
  const bool expires = std::ranges::any_of(faults, ends_session, &Faults::value_type::second);
  const auto plan = std::make_shared<FaultsAt>("observed" + std::to_string(where), faults);
  asio::cancellation_signal signal;
  plan->submitted = [&](std::size_t step) {
    if (!cancel || cancel->at != step) return;
    asio::post(world.context, [&] { signal.emit(asio::cancellation_type::all); });
  };
  ensembles.all[where]->set_fault_plan(plan);
  AcquireOptions options;
  options.on_position = [&](auto&&...) { held.release(); };
  Outcome<LeaseGroup> outcome;
  observed->async_acquire(options, asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
  std::string fault;
  if (!world.run_until_arrived(outcome)) return "the acquire does not end";
  const bool cancelled = cancel && outcome.error() == asio::error::operation_aborted;
  if (outcome.error() && !cancelled) fault = outcome.error().message();
  if (!outcome.error() && outcome.result().leases().size() < 2) fault = "too few";
  if (!outcome.error() && ensembles.existing(nodes_before) > 1) fault = "two hold it";
  held.release();
  LeaseGroup& leases = outcome.result();
  const auto nodes = nodes_of(leases);
  if (!expires && ensembles.existing(nodes) != std::ssize(nodes)) fault = "a node is missing";
  bool waits = false;
  auto next = other.begin({.on_position = [&waits](auto&&...) { waits = true; }});
  if (!world.run_until([&] { return waits || next.arrived(); })) {
    return "another neither waits nor gets it";
  }
  world.settle();
  if (next.arrived() && leases && (!expires || ensembles.existing(nodes) > 1)) {
    fault = "another got it while it was held";
  }
  leases.release();
  if (!world.run_until_arrived(next)) return "after the end another waits for ever";
  if (next.error()) fault = "another fails: " + next.error().message();
  next.result().release();
  plan->submitted = nullptr;
  if (!observed.end() || !other.end()) fault = "something is left in a client";
  if (!ensembles.empty()) fault = "something is left on a server";
  if (steps) *steps = plan->steps();
  return fault;
}

TEST_CASE("quorum: every fault at every request of each ensemble, and every cancellation",
          "[quorum]") {
  std::size_t cases = 0;
  for (std::size_t where = 0; where < 3; ++where) {
    std::size_t steps = 0;
    CHECK(play_quorum(where, {}, {}, &steps).empty());
    REQUIRE(steps > 0);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        for (const bool cancelled : {false, true}) {
          const auto cancel = cancelled ? std::optional{Cancel{.at = at}} : std::nullopt;
          const std::string wrong = play_quorum(where, {{at, fault}}, cancel);
          if (!wrong.empty()) {
            FAIL_CHECK("ensemble " << where << ", request " << at << ": " << describe(fault)
                                   << (cancelled ? ", cancelled: " : ": ") << wrong);
          }
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: a quorum lock, each fault at each request\n";
}

}  // namespace
}  // namespace custodian::tests::quorum_lock_faults_test
