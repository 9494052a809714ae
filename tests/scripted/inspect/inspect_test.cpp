// inspect() with a fault, or a cancellation, at each of its requests: it returns the truth or an
// error, and leaves nothing behind.

#include "custodian/inspect/inspect.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>

#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::inspect_test {
namespace {

struct Run {
  std::string fault;  ///< empty if all is well
  std::size_t steps = 0;
};

/// Runs something when a request is sent.
class When final : public testing::FaultPlan {
 public:
  When(std::size_t at, std::function<void()> act) : at_{at}, act_{std::move(act)} {}
  Fault on_submit(const Submission& submission) override {
    if (submission.client == "looking" && next_++ == at_) act_();
    return {};
  }

 private:
  std::size_t at_;
  std::function<void()> act_;
  std::size_t next_ = 0;
};

void make_queues(World& world) {
  for (const char* path : {"/p", "/p/leases", "/p/locks", "/p/notes"}) world.make(path);
  world.make("/p/lock-0000000007", "waiter");
  world.make("/p/lock-0000000003", "holder");
  world.make("/p/leases/lease-0000000000", "one");
  world.make("/p/leases/lease-0000000001", "two");
  world.make("/p/locks/lock-0000000002", "two");
  world.make("/p/locks/lock-x");
}

std::string summary_of(const Inspection& seen) {
  std::string text;
  for (const Inspected& each : seen.contenders) {
    text += each.participant.node + '=' + each.participant.identity + ':' +
            std::to_string(static_cast<int>(each.standing)) +
            std::to_string(static_cast<int>(each.claim)) + std::to_string(each.ahead) + ' ';
  }
  for (const std::string& node : seen.malformed) text += "malformed " + node + ' ';
  for (const std::string& node : seen.foreign) text += "foreign " + node + ' ';
  return text;
}

/// The semaphore has two permits. "two" holds the second, though its node is first in the queue at
/// locks.
constexpr std::string_view expected =
    "/p/lock-0000000003=holder:000 /p/lock-0000000007=waiter:101 "
    "/p/leases/lease-0000000000=one:040 /p/leases/lease-0000000001=two:040 "
    "/p/locks/lock-0000000002=two:150 malformed /p/locks/lock-x foreign /p/notes ";

Run look(const Faults& faults) {
  Run result;
  World world;
  make_queues(world);
  auto client = world.client("looking");
  const auto plan = std::make_shared<FaultsAt>("looking", faults);
  world.ensemble.set_fault_plan(plan);
  const auto seen = run<Inspection>(
      world, [&](auto done) { async_inspect(*client, "/p", {.permits = 2}, done); });
  if (!seen.arrived()) {
    result.fault = "it does not end";
  } else if (seen.error()) {
    result.fault = "it ends with " + seen.error().message();
  } else if (summary_of(seen.result()) != expected) {
    result.fault = "it shows " + summary_of(seen.result());
  }
  if (!world.run_until_idle(*client)) result.fault += " operations or watches are left";
  if (!world.end(client)) result.fault += " something keeps the client alive";
  result.steps = plan->steps();
  return result;
}

Run give_up(std::size_t at) {
  Run result;
  World world;
  make_queues(world);
  auto client = world.client("looking");
  boost::asio::cancellation_signal signal;
  world.ensemble.set_fault_plan(
      std::make_shared<When>(at, [&] { signal.emit(boost::asio::cancellation_type::total); }));
  const auto seen = run<Inspection>(world, [&](auto done) {
    async_inspect(*client, "/p", {.permits = 2},
                  boost::asio::bind_cancellation_slot(signal.slot(), done));
  });
  if (!seen.arrived()) return {"it does not end"};
  const bool is_whole = !seen.error() && summary_of(seen.result()) == expected;
  const bool is_given_up =
      seen.error() == boost::asio::error::operation_aborted && seen.result().contenders.empty();
  if (!is_whole && !is_given_up) result.fault = "it ends with " + seen.error().message();
  if (!world.run_until_idle(*client)) result.fault += " operations are left";
  if (!world.end(client)) result.fault += " something keeps the client alive";
  return result;
}

TEST_CASE("inspect: what is at a path is shown through every fault, and nothing is left") {
  const Run plain = look({});
  REQUIRE(plain.fault.empty());
  // A run sends three listings, and a read for each contender.
  REQUIRE(plain.steps == 8);
  std::size_t cases = 0;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const Run run = look({{at, fault}});
      if (!run.fault.empty())
        FAIL_CHECK("request " << at << ": " << describe(fault) << ": " << run.fault);
      ++cases;
    }
    const Run given_up = give_up(at);
    if (!given_up.fault.empty()) FAIL_CHECK("given up at " << at << ": " << given_up.fault);
    ++cases;
  }
  std::cout << "  " << cases << " cases: inspect, each fault at each request, and given up\n";
}

TEST_CASE("inspect: with a closed client it ends, and with a wrong path it does not begin") {
  World world;
  auto client = world.client("looking");
  CHECK_THROWS_AS(async_inspect(*client, "p", {}, [](error_code, Inspection) {}), Error);
  client->close();
  const auto seen =
      run<Inspection>(world, [&](auto done) { async_inspect(*client, "/p", {}, done); });
  REQUIRE(seen.arrived());
  CHECK(seen.error() == Errc::closed);
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::inspect_test
