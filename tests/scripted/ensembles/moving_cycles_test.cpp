// Two processes acquire and release a lock again and again while a publisher moves its path there
// and back, with a fault at each request of one process: never two holders, and tokens grow.

#include <boost/asio/post.hpp>

#include "scripted/ensembles/moving_mutex_process.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::moving_cycles_test {
namespace {

namespace asio = boost::asio;
using namespace moving_world;
using namespace moving_mutex_process;

/// How many turns of the context a holder works.
constexpr int turns_of_work = 30;

class Cycles;

/// A process that acquires and releases.
struct Cycler {
  Cycler(Ensembles& ensembles, const std::string& name) : process{ensembles, name} {}

  LockProcess process;
  MovingLease lease{};
  bool has_ended = false;
  int holds = 0;
};

struct CyclesRun {
  std::string violation{};
  std::size_t steps = 0;
  int holds = 0;
};

class Cycles {
 public:
  Cycles(std::size_t faulty, const Faults& faults)
      : plan_{std::make_shared<FaultsAt>(std::string{"mine-"} + names.at(faulty), faults)} {
    make_map(ensembles_);
    ensembles_.world.settle();
    ensembles_.all.at(faulty)->set_fault_plan(plan_);
    // For a moment, a holder still believes in a session that the servers have ended.
    for (const auto& [at, fault] : faults) {
      judges_holders_ = judges_holders_ && fault.kind != FaultKind::expire_before &&
                        fault.kind != FaultKind::expire_after;
    }
  }

  CyclesRun run() {
    cycle(mine_);
    cycle(other_);
    for (const std::size_t home : {1U, 0U}) {
      Outcome<> moved;
      publisher_.move_to(layout_at(home), moved.handler());
      if (!ensembles_.world.run_until_arrived(moved)) return stuck("a move does not end");
      if (moved.error()) complain("a move fails: " + moved.error().message());
      if (!both_go_on()) return stuck("somebody waits for ever after a move");
    }
    is_over_ = true;
    const bool ended =
        ensembles_.world.run_until([&] { return mine_.has_ended && other_.has_ended; });
    if (!ended) return stuck("somebody waits for ever");
    run_.steps = plan_->steps();
    run_.holds = mine_.holds + other_.holds;
    for (testing::FakeEnsemble* each : ensembles_.all) each->release_replies();
    if (!publisher_.end(ensembles_)) complain("something is left of the publisher");
    if (!mine_.process.end(ensembles_)) complain("something is left, or keeps a client alive");
    if (!other_.process.end(ensembles_)) complain("something is left of the other process");
    for (std::size_t at = 0; at < 2; ++at) {
      if (nodes_at(ensembles_, at) > 0) complain("a node is left");
    }
    return run_;
  }

 private:
  void complain(const std::string& what) {
    if (run_.violation.empty()) run_.violation = what;
  }

  /// An acquire that has failed is the cause, and was complained of before.
  CyclesRun stuck(const std::string& what) {
    complain(what);
    return run_;
  }

  /// Runs until each process has been granted the lock twice more: the second acquire has begun
  /// after this call.
  bool both_go_on() {
    const int mine = mine_.holds;
    const int others = other_.holds;
    return ensembles_.world.run_until(
        [&] { return mine_.holds >= mine + 2 && other_.holds >= others + 2; });
  }

  void cycle(Cycler& cycler) {
    if (is_over_) {
      cycler.has_ended = true;
      return;
    }
    cycler.process.mutex->async_acquire([this, &cycler](error_code error, MovingLease lease) {
      if (error) return complain("an acquire fails: " + error.message());
      judge(cycler, lease);
      cycler.lease = std::move(lease);
      ++cycler.holds;
      work(cycler, turns_of_work);
    });
  }

  void judge(const Cycler& cycler, const MovingLease& lease) {
    const Cycler& other = &cycler == &mine_ ? other_ : mine_;
    const LeaseState others = other.lease.state();
    const bool believes = others == LeaseState::held || others == LeaseState::suspended;
    if (believes && judges_holders_) complain("two hold it");
    if (lease.token() <= last_token_) {
      complain("the token " + to_string(lease.token()) + " comes after " + to_string(last_token_));
    }
    last_token_ = lease.token();
  }

  void work(Cycler& cycler, int turns) {
    if (turns > 0) {
      return asio::post(ensembles_.world.context,
                        [this, &cycler, turns] { work(cycler, turns - 1); });
    }
    cycler.lease.release();
    cycle(cycler);
  }

  const std::shared_ptr<FaultsAt> plan_;
  Ensembles ensembles_;
  MapProcess publisher_{ensembles_, "publisher"};
  Cycler mine_{ensembles_, "mine"};
  Cycler other_{ensembles_, "other"};
  FencingToken last_token_{};
  bool judges_holders_ = true;
  bool is_over_ = false;
  CyclesRun run_;
};

TEST_CASE("moving cycles: never two holders, and tokens grow, with a fault at each request",
          "[ensembles]") {
  Plays plays{"cycles, one fault"};
  for (const std::size_t faulty : {0U, 1U}) {
    const CyclesRun plain = Cycles{faulty, {}}.run();
    CHECK(plain.violation.empty());
    CHECK(plain.holds >= 8);
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        plays.add(Cycles{faulty, {{at, fault}}}.run().violation, [&] {
          return std::string{names.at(faulty)} + ", request " + std::to_string(at) + ": " +
                 tests::describe(fault);
        });
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::moving_cycles_test
