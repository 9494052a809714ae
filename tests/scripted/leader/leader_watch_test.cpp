// A leader that never waited notices by a watch that an operator deletes its node. There are no
// beats here, and a fault occurs at every request, those of the watch included.

#include <algorithm>
#include <iostream>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/lease/revocation.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::leader_watch_test {
namespace {

constexpr auto path = "/election";

enum class Incident { node_deleted, node_deleted_at_once, session_expires, closed, client_closed };

struct Run {
  std::string fault{};  ///< empty if all is well
  std::size_t steps = 0;
};

/// The only candidate becomes the leader, and becomes it again if it loses the first leadership.
/// Then it closes.
class Term {
 public:
  Term(Incident incident, const Faults& faults)
      : incident_{incident}, plan_{std::make_shared<FaultsAt>("leader", faults)} {}

  Run run() {
    client_ = world_.client("leader");
    latch_.emplace(*client_, path);
    listening_ = latch_->on_leadership([this](Leadership now) {
      if (now == Leadership::ended) return void(++ended_);
      ++gained_;
    });
    world_.ensemble.set_fault_plan(plan_);
    latch_->start();
    await("it does not come to lead", [this] { return leads(); });
    happen();
    latch_->close();
    leave_nothing();
    result_.steps = plan_->steps();
    return result_;
  }

 private:
  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }
  void await(const std::string& otherwise, const std::function<bool()>& condition) {
    const bool goes_on = result_.fault.empty();
    if (goes_on && !world_.run_until(condition)) complain(otherwise);
  }
  [[nodiscard]] bool leads() const { return gained_ > ended_ && latch_->has_leadership(); }

  void happen() {
    if (!result_.fault.empty()) return;
    if (incident_ != Incident::node_deleted_at_once) {
      await("its node is not watched", [this] { return world_.ensemble.watches() == 1; });
    }
    const int before = gained_;
    switch (incident_) {
      case Incident::closed: return;
      case Incident::client_closed: {
        const std::int64_t session = client_->session().id;
        client_->close();
        world_.settle();
        // The request that ends the session may be lost: the servers end the session in any case.
        return world_.ensemble.expire(session);
      }
      case Incident::session_expires: world_.ensemble.expire(client_->session().id); break;
      case Incident::node_deleted:
      case Incident::node_deleted_at_once: {
        const Lease leadership = latch_->leadership();
        world_.remove(leadership.node());
        break;
      }
    }
    await("it is not told", [this] { return ended_ > 0; });
    await("it does not lead again", [this, before] { return gained_ > before && leads(); });
    await("its new node is not watched", [this] { return world_.ensemble.watches() == 1; });
  }

  void leave_nothing() {
    await("a node is left", [this] { return world_.ensemble.children(path).empty(); });
    if (incident_ != Incident::client_closed && !world_.run_until_idle(*client_)) {
      complain("operations or watches are left");
    }
    await("a watch is left on the server", [this] { return world_.ensemble.watches() == 0; });
    latch_.reset();
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  const Incident incident_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<LeaderLatch> latch_;
  Subscription listening_;
  int gained_ = 0;
  int ended_ = 0;
  Run result_;
};

void play(Incident incident, const std::string& name) {
  const Run plain = Term{incident, {}}.run();
  REQUIRE(plain.fault == "");
  CHECK(plain.steps >= 3);
  std::size_t cases = 1;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const Run run = Term{incident, {{at, fault}}}.run();
      if (!run.fault.empty()) {
        FAIL_CHECK(name << ", request " << at << ": " << describe(fault) << ": " << run.fault);
      }
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: " << name << ", each fault at each request\n";
}

TEST_CASE("leader watch: a leader whose node is deleted is told by a watch, through every fault") {
  play(Incident::node_deleted, "a watched leader, its node deleted");
  play(Incident::node_deleted_at_once, "a leader, its node deleted before it is watched");
}

TEST_CASE("leader watch: it goes with the leadership, through every fault") {
  play(Incident::closed, "a watched leader, closed");
  play(Incident::client_closed, "a watched leader, its client closed");
  play(Incident::session_expires, "a watched leader, its session over");
}

TEST_CASE("leadership: a request to a candidate that waits does not hide who leads afterwards") {
  World world;
  auto first = world.client("first");
  auto second = world.client("second");
  {
    LeaderLatch leader{*first, path};
    LeaderLatch waiter{*second, path};
    leader.start();
    REQUIRE(world.run_until([&] { return leader.has_leadership(); }));
    const std::string ahead = leader.leadership().node();
    waiter.start();
    // The leader watches its node; the waiter watches both nodes.
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 3; }));
    const std::vector<std::string> names = world.ensemble.children(path);
    const auto behind = std::ranges::find_if(
        names, [&](const std::string& name) { return !ahead.ends_with(name); });
    REQUIRE(behind != names.end());
    const std::string node = std::string{path} + "/" + *behind;
    world.ensemble.operate(request::Set{node, std::string{revoke_message}});
    world.settle();
    leader.close();
    REQUIRE(world.run_until([&] { return waiter.has_leadership(); }));
    CHECK(world.run_until(
        [&] { return world.ensemble.operate(request::Get{node}).data == "second"; }));
  }
  CHECK(world.end(first));
  CHECK(world.end(second));
}

}  // namespace
}  // namespace custodian::tests::leader_watch_test
