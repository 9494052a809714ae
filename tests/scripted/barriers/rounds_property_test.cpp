// Members of double barriers, and arrivals at barriers, go through many rounds while anything may
// fail: no member is in before all have come, or out before all have begun to leave.

#include <algorithm>
#include <functional>
#include <list>
#include <random>

#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::rounds_property_test {
namespace {

const std::string path = "/rounds/one";
constexpr int members = 3;
constexpr int rounds = 6;

/// Lets one request in `one_in` fail, in any way that spares the session.
class Storm final : public testing::FaultPlan {
 public:
  explicit Storm(unsigned seed) : random_{seed} {
    faults_ = all_faults();
    std::erase_if(faults_, [](const Fault& fault) {
      return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
    });
    for (const int later : {1, 2, 3}) {
      faults_.push_back({.kind = FaultKind::apply_late, .requests_later = later});
    }
  }

  Fault on_submit(const Submission&) override {
    constexpr unsigned one_in = 6;
    if (random_() % one_in != 0) return {};
    return faults_[random_() % faults_.size()];
  }

 private:
  std::minstd_rand random_;
  std::vector<Fault> faults_;
};

/// How often all of them together have begun something.
struct Tally {
  int begun = 0;
  int violations = 0;
  std::string error{};  ///< the first one
  int ended = 0;

  void end(int round, error_code failure) {
    ++ended;
    if (failure && error.empty()) error = failure.message();
    if (begun < members * round) ++violations;
  }
};

class Crowd {
 public:
  explicit Crowd(unsigned seed) {
    for (int i = 0; i < members; ++i) {
      clients_.push_back(world_.client("member-" + std::to_string(i)));
    }
    world_.ensemble.set_fault_plan(std::make_shared<Storm>(seed));
  }
  ~Crowd() {
    world_.ensemble.set_fault_plan(nullptr);
    world_.ensemble.apply_late_requests();
    parties_.clear();
    phases_.clear();
    for (auto& each : clients_) CHECK(world_.end(each));
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void meet() {
    for (auto& client : clients_) parties_.emplace_back(*client, path, members);
    for (auto& each : parties_) enter(each, 1);
    CHECK(world_.run_until([this] { return leaving_.ended == members * rounds; }));
    check(entering_);
    check(leaving_);
  }
  void pass_phases() {
    for (auto& client : clients_) phases_.emplace_back(*client, path, members);
    for (auto& each : phases_) arrive(each, 1);
    CHECK(world_.run_until([this] { return entering_.ended == members * rounds; }));
    check(entering_);
    world_.ensemble.set_fault_plan(nullptr);
    CHECK(world_.ensemble.operate(request::Get{path}).stat.version == rounds);
  }

 private:
  static void check(const Tally& tally) {
    CHECK(tally.violations == 0);
    CHECK(tally.error == "");
  }

  void enter(DistributedDoubleBarrier& party, int round) {
    if (round > rounds) return;
    ++entering_.begun;
    party.async_enter([this, &party, round](error_code error, bool) {
      entering_.end(round, error);
      ++leaving_.begun;
      party.async_leave([this, &party, round](error_code failure, bool) {
        leaving_.end(round, failure);
        enter(party, round + 1);
      });
    });
  }
  void arrive(InterProcessBarrier& barrier, int round) {
    if (round > rounds) return;
    ++entering_.begun;
    barrier.async_arrive_and_wait([this, &barrier, round](error_code error) {
      entering_.end(round, error);
      arrive(barrier, round + 1);
    });
  }

  World world_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::list<DistributedDoubleBarrier> parties_;
  std::list<InterProcessBarrier> phases_;
  Tally entering_;
  Tally leaving_;
};

constexpr unsigned seeds = 60;

TEST_CASE(
    "double barrier: whatever is cut, nobody is in before all have come, or out before all "
    "leave",
    "[double-barrier]") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    Crowd{seed}.meet();
  }
}

TEST_CASE("phases: whatever is cut, nobody passes before all have come", "[phases]") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    Crowd{seed}.pass_phases();
  }
}

}  // namespace
}  // namespace custodian::tests::rounds_property_test
