// A semaphore's acquire of several permits through every fault at every request, and every
// cancellation: all of them or none, never more than the maximum, and nothing left.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <iostream>

#include "scripted/lock_play.hpp"
#include "scripted/semaphores/semaphore_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::semaphore_faults_test {

namespace asio = boost::asio;
using namespace permits;

namespace {

/// The result of a run; `fault` is empty if all is well.
struct Run {
  std::string fault;
  std::size_t steps = 0;
  bool granted = false;
};

/// The number of permits that the counter allows now.
std::ptrdiff_t now_allowed(World& world, Relief relief) {
  if (relief == Relief::given_back) return maximum;
  const std::string data = world.ensemble.operate(request::Get{"/maximum"}).data;
  return data.empty() ? maximum : data.back();  // a small number, big-endian
}

/// "other" holds two of three permits, and "observed" wants two. When "observed" waits (a mere try
/// does not), "other" releases one, or raises the maximum; it releases its last one when the
/// acquire has ended.
Run run_for_two(Face face, const Faults& faults, std::optional<Cancel> cancel = {},
                Relief relief = Relief::given_back) {
  Run result;
  const auto complain = [&](const std::string& what) {
    if (result.fault.empty()) result.fault = what;
  };
  World world;
  auto other = world.client("other");
  auto observed = world.client("observed");
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  {
    InterProcessSemaphore others = semaphore(*other, relief);
    InterProcessSemaphore mine = semaphore(*observed, relief);
    SharedCount counter{*other, "/maximum", maximum};
    Outcome<> raised;
    int permits = maximum;
    auto held = tests::run<std::vector<Lease>>(
        world, [&](auto done) { others.async_acquire(2, std::move(done)); });
    if (!held.arrived() || held.error()) return {"who is to hold two permits does not get them"};

    asio::cancellation_signal signal;
    const auto cancel_at = [&](CancelMoment moment) {
      return [&, moment](std::size_t step) {
        if (!cancel || cancel->moment != moment || cancel->at != step) return;
        if (moment != CancelMoment::request_sent) return signal.emit(asio::cancellation_type::all);
        asio::post(observed->get_executor(),
                   [&signal] { signal.emit(asio::cancellation_type::all); });
      };
    };
    plan->submitted = cancel_at(CancelMoment::request_sent);
    plan->replying = cancel_at(CancelMoment::before_reply);
    plan->replied = cancel_at(CancelMoment::after_reply);
    world.ensemble.set_fault_plan(plan);

    AcquireOptions options;
    if (face == Face::acquire) {
      options.on_position = [&](std::size_t, const Participant&) {
        if (relief == Relief::given_back) {
          if (held.result().size() == 2) held.result().pop_back();
        } else if (std::exchange(permits, maximum + 1) == maximum) {
          counter.async_store(permits, raised.handler());
        }
      };
    }
    Outcome<std::vector<Lease>> two;
    auto handler = asio::bind_cancellation_slot(signal.slot(), two.handler());
    if (face == Face::acquire) mine.async_acquire(2, options, handler);
    NotAcquired reason = NotAcquired::none;
    auto limited = asio::bind_cancellation_slot(
        signal.slot(), [&reason, ended = two.handler()](error_code error, PermitsResult tried) {
          reason = tried.reason;
          ended(error, std::move(tried.permits));
        });
    if (face == Face::try_acquire) mine.async_try_acquire(2, options, limited);
    if (face == Face::timed) mine.async_try_acquire_until(2, brief_limit, options, limited);
    if (!world.run_until_arrived(two)) return {"the acquire does not end"};
    result.granted = !two.result().empty();
    const error_code error = two.error();
    if (result.granted && two.result().size() != 2) complain("some, and not all");
    if (result.granted && error) complain("permits with an error");
    const bool excused = (cancel && error == asio::error::operation_aborted) ||
                         (face != Face::acquire && !error && reason != NotAcquired::none);
    if (!result.granted && !excused) complain("no permits, but: " + error.message());
    const auto alive = [&](const Lease& lease) { return world.ensemble.exists(lease.node()); };
    const auto in =
        std::ranges::count_if(two.result(), alive) + std::ranges::count_if(held.result(), alive);
    if (in > now_allowed(world, relief)) complain("too many are in");
    if (permits != maximum && !world.run_until_arrived(raised)) complain("no store ends");

    // Another client gets all permits when they are free, and not before.
    bool waits = false;
    options.on_position = [&](auto&&...) { waits = true; };
    Outcome<std::vector<Lease>> all;
    others.async_acquire(permits, options, all.handler());
    world.run_until([&] { return waits || all.arrived(); });
    if (all.arrived()) complain("all are had by another while some are held");
    held.result().clear();
    two.result().clear();
    world.run_until_arrived(all);
    if (!all.arrived() || all.error()) complain("after the end the permits are not to be had");
    if (all.arrived()) all.result().clear();
    if (!world.run_until_idle(*observed)) complain("operations or watches are left");
    if (!world.run_until_idle(*other)) complain("operations or watches are left in the other");
    if (!leases(world).empty()) complain("a lease is left");
    if (!world.ensemble.children(std::string{path} + "/locks").empty()) {
      complain("a node is left at the turnstile");
    }
    if (world.ensemble.watches() != 0) complain("a watch is left on the server");
    plan->submitted = plan->replying = plan->replied = nullptr;
  }
  if (!world.end(observed) || !world.end(other)) complain("something keeps a client alive");
  result.steps = plan->steps();
  return result;
}

void check(const Run& run, const std::string& what) {
  if (!run.fault.empty()) FAIL_CHECK(what << ": " << run.fault);
}

TEST_CASE("semaphore: several permits are had or not, all of them, through every fault",
          "[semaphore]") {
  std::size_t cases = 0;
  for (const Face face : {Face::acquire, Face::try_acquire, Face::timed}) {
    const Run plain = run_for_two(face, {});
    CHECK(plain.fault.empty());
    CHECK(plain.granted == (face == Face::acquire));
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        check(run_for_two(face, {{at, fault}}), "face " + std::to_string(static_cast<int>(face)) +
                                                    ", request " + std::to_string(at) + ": " +
                                                    describe(fault));
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: two permits, each fault at each request\n";
}

TEST_CASE("semaphore: a maximum that is raised lets in who waits, through every fault",
          "[semaphore]") {
  std::size_t cases = 0;
  const auto play = [&](Face face, const Faults& faults, std::optional<Cancel> cancel) {
    ++cases;
    const Run run = run_for_two(face, faults, cancel, Relief::maximum_raised);
    const std::size_t at = cancel ? cancel->at : faults.empty() ? 0 : faults[0].first;
    check(run, "face " + std::to_string(static_cast<int>(face)) + ", at " + std::to_string(at) +
                   (faults.empty() ? "" : ": " + describe(faults[0].second)));
    return run;
  };
  for (const Face face : {Face::acquire, Face::try_acquire, Face::timed}) {
    const Run plain = play(face, {}, {});
    CHECK(plain.granted == (face == Face::acquire));
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) play(face, {{at, fault}}, {});
      using enum CancelMoment;
      for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
        play(face, {}, Cancel{moment, at});
      }
    }
  }
  std::cout << "  " << cases << " cases: a maximum raised, each fault and cancellation\n";
}

TEST_CASE("semaphore: several permits, cancelled at each moment, beside every fault",
          "[semaphore]") {
  const std::size_t steps = run_for_two(Face::acquire, {}).steps;
  std::size_t cases = 0;
  Sample sample;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      check(run_for_two(Face::acquire, {}, Cancel{moment, at}),
            "cancelled at " + std::to_string(at));
      ++cases;
      for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
        for (const Fault& fault : all_faults()) {
          if (!sample.takes_next()) continue;
          check(run_for_two(Face::acquire, {{fault_at, fault}}, Cancel{moment, at}),
                "request " + std::to_string(fault_at) + ": " + describe(fault) + "; cancelled at " +
                    std::to_string(at));
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: two permits, cancelled at each moment\n";
}

}  // namespace
}  // namespace custodian::tests::semaphore_faults_test
