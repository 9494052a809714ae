// A latch that is closed and started again at once, at every step of its life and with a fault at
// every request: it leads again with another node, and its listeners are notified in order.

#include <boost/asio/post.hpp>
#include <iostream>

#include "custodian/leader/leader_latch.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::latch_restart_test {
namespace {

constexpr auto path = "/election";
using CloseMode = LeaderLatch::CloseMode;
using Waiting = Outcome<Lease>;

struct Restart {
  CancelMoment moment = CancelMoment::request_sent;
  std::size_t at = 0;
};

struct Run {
  std::string fault{};  ///< empty if all is well
  std::size_t steps = 0;
};

/// The observed latch leads, and is closed and started again while another candidate waits. That
/// candidate leads next; when it closes, the latch leads again.
class Life {
 public:
  Life(CloseMode mode, const Faults& faults, std::optional<Restart> restart = {})
      : mode_{mode}, restart_{restart}, plan_{std::make_shared<FaultsAt>("observed", faults)} {}

  Run run() {
    other_ = world_.client("other");
    client_ = world_.client("observed");
    latch_.emplace(*client_, path);
    listening_ = latch_->on_leadership([this](Leadership now) { on_leadership(now); });
    plan_->submitted = restart_at(CancelMoment::request_sent);
    plan_->replying = restart_at(CancelMoment::before_reply);
    plan_->replied = restart_at(CancelMoment::after_reply);
    world_.ensemble.set_fault_plan(plan_);

    latch_->start();
    await("it does not come to lead", [this] { return leads(); });
    if (result_.fault.empty()) lead_again();
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    latch_->close(mode_);
    leave_nothing();
    result_.steps = plan_->steps();
    return result_;
  }

 private:
  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }
  void await(const std::string& otherwise, const std::function<bool()>& condition) {
    if (!world_.run_until(condition)) complain(otherwise);
  }
  [[nodiscard]] bool leads() const {
    return latch_->state() == CandidateState::started && latch_->has_leadership() &&
           !told_.empty() && told_.back() == Leadership::gained;
  }
  void on_leadership(Leadership now) {
    const bool in_order =
        now == Leadership::ended
            ? !told_.empty() && told_.back() == Leadership::gained
            : mode_ == CloseMode::silent || told_.empty() || told_.back() == Leadership::ended;
    if (!in_order) complain("its listener is not told in order");
    told_.push_back(now);
    const Lease leadership = latch_->leadership();
    if (now != Leadership::gained || !leadership) return;
    const std::int64_t token = leadership.token().value;
    if (!tokens_.empty() && token <= tokens_.back()) complain("a term on a node of before");
    tokens_.push_back(token);
  }
  [[nodiscard]] Waiting waiting() const {
    Waiting outcome;
    latch_->async_wait(outcome.handler());
    return outcome;
  }

  void close_and_start() {
    latch_->close(mode_);
    latch_->start();
  }
  std::function<void(std::size_t)> restart_at(CancelMoment moment) {
    return [this, moment](std::size_t step) {
      if (!restart_ || restart_->moment != moment || restart_->at != step) return;
      if (moment != CancelMoment::request_sent) return close_and_start();
      boost::asio::post(client_->get_executor(), [this] { close_and_start(); });
    };
  }

  void lead_again() {
    LeaderLatch behind{*other_, path};
    behind.start();
    await("nobody stands behind it", [this] { return world_.ensemble.children(path).size() >= 2; });
    latch_->close(mode_);
    const Waiting closed = waiting();
    if (latch_->has_leadership()) complain("it leads though it is closed");
    latch_->start();
    const Waiting coming = waiting();
    if (latch_->has_leadership()) complain("it leads by what it has given up");
    await("a wait outlasts the close", [&] { return closed.arrived(); });
    if (closed.arrived() && closed.error() != Errc::closed) complain("a wait is not closed");
    await("the next one does not lead", [&] { return behind.has_leadership(); });
    if (latch_->has_leadership()) complain("two lead");
    behind.close();
    await("it does not lead again", [this] { return leads(); });
    await("a wait for the new term does not end", [&] { return coming.arrived(); });
    if (!coming.arrived() || coming.error()) {
      // The restart of this run closes the latch, which ends such a wait.
      if (!restart_) complain("a wait for the new term fails");
    } else if (coming.result().token().value > tokens_.back()) {
      complain("a wait for the new term ends with another one");
    }
  }

  void leave_nothing() {
    await("a node is left", [this] { return world_.ensemble.children(path).empty(); });
    if (!world_.run_until_idle(*client_)) complain("operations or watches are left");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    await("a watch is left on the server", [this] { return world_.ensemble.watches() == 0; });
    if (mode_ == CloseMode::notify_leader) {
      await("its listener is not told of the last end",
            [this] { return told_.empty() || told_.back() == Leadership::ended; });
    }
    listening_.reset();
    latch_.reset();
    if (!world_.end(client_) || !world_.end(other_)) complain("something keeps a client alive");
  }

  const CloseMode mode_;
  const std::optional<Restart> restart_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> other_;
  std::unique_ptr<Client> client_;
  std::optional<LeaderLatch> latch_;
  Subscription listening_;
  std::vector<Leadership> told_;
  std::vector<std::int64_t> tokens_;
  Run result_;
};

void check(const Run& run, const std::string& what) {
  if (!run.fault.empty()) FAIL_CHECK(what << ": " << run.fault);
}

TEST_CASE("latch restart: one that is closed and started again leads again, through every fault") {
  std::size_t cases = 0;
  for (const CloseMode mode : {CloseMode::silent, CloseMode::notify_leader}) {
    const Run plain = Life{mode, {}}.run();
    REQUIRE(plain.fault == "");
    CHECK(plain.steps >= 6);
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        const std::string what = "request " + std::to_string(at) + ": " + describe(fault);
        check(Life{mode, {{at, fault}}}.run(), what);
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: a latch started again, each fault at each request\n";
}

TEST_CASE("latch restart: closed and started at any moment it leads again, beside every fault") {
  std::size_t cases = 0;
  Sample sample;
  using enum CancelMoment;
  const std::size_t steps = Life{CloseMode::notify_leader, {}}.run().steps;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      const std::string what = "started again at " + std::to_string(at);
      const Restart restart{moment, at};
      check(Life{CloseMode::notify_leader, {}, restart}.run(), what);
      for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
        for (const Fault& fault : all_faults()) {
          if (!sample.takes_next()) continue;
          check(Life{CloseMode::notify_leader, {{fault_at, fault}}, restart}.run(),
                what + "; request " + std::to_string(fault_at) + ": " + describe(fault));
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: a latch started again at each moment\n";
}

TEST_CASE("latch restart: of many starts and closes at once the last one counts") {
  World world;
  auto client = world.client("observed");
  {
    LeaderLatch latch{*client, path};
    const Waiting never_stands = [&] {
      latch.start();
      latch.close();
      latch.start();
      Waiting outcome;
      latch.async_wait(outcome.handler());
      latch.close();
      return outcome;
    }();
    latch.start();
    CHECK(latch.state() == CandidateState::started);
    REQUIRE(world.run_until([&] { return latch.has_leadership(); }));
    CHECK(latch.state() == CandidateState::started);
    REQUIRE(world.run_until_arrived(never_stands));
    CHECK(never_stands.error() == Errc::closed);
    CHECK(world.ensemble.children(path).size() == 1);
    latch.close();
    latch.start();
    latch.close();
    CHECK(latch.state() == CandidateState::closed);
    CHECK(world.run_until([&] { return world.ensemble.children(path).empty(); }));
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("latch restart: a wait without time on a latch that is closed says that it is closed") {
  World world;
  auto client = world.client("observed");
  {
    LeaderLatch latch{*client, path};
    latch.start();
    latch.close();
    Waiting closed;
    latch.async_wait_until(Deadline{std::chrono::seconds{-1}}, closed.handler());
    REQUIRE(world.run_until_arrived(closed));
    CHECK(closed.error() == Errc::closed);
    // On a started latch a wait whose deadline has passed is only late, which is no error.
    latch.start();
    Waiting late;
    latch.async_wait_until(Deadline{std::chrono::seconds{-1}}, late.handler());
    REQUIRE(world.run_until_arrived(late));
    CHECK_FALSE(late.error());
    CHECK_FALSE(late.result());
    latch.close();
    CHECK(world.run_until_idle(*client));
  }
  CHECK(world.end(client));
}

TEST_CASE("latch restart: a lease of the old leadership that is kept keeps the new one waiting") {
  World world;
  auto client = world.client("observed");
  {
    LeaderLatch latch{*client, path};
    latch.start();
    REQUIRE(world.run_until([&] { return latch.has_leadership(); }));
    Lease kept = latch.leadership();
    latch.close();
    latch.start();
    REQUIRE(world.run_until([&] { return world.ensemble.children(path).size() == 2; }));
    world.settle();
    CHECK_FALSE(latch.has_leadership());
    CHECK(kept.state() == LeaseState::held);
    kept.release();
    CHECK(world.run_until([&] { return latch.has_leadership(); }));
    const Lease now = latch.leadership();
    CHECK(now.token().value > 0);
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::latch_restart_test
