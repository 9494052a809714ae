// A barrier with a fault at each request, and cancelled at each moment: each operation ends with
// the right answer or a true error, and leaves nothing behind.

#include <algorithm>
#include <optional>

#include "custodian/barriers/distributed_barrier.hpp"
#include "scripted/barriers/operation_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_faults_test {
namespace {

constexpr auto path = "/barriers/one";

enum class Act { set, remove, look, wait, late_wait };

struct Case {
  const char* name;
  Act act;
  bool is_set;
};

constexpr Case all_cases[] = {
    {"set, it is not set", Act::set, false},       {"set, it is set", Act::set, true},
    {"remove, it is not set", Act::remove, false}, {"remove, it is set", Act::remove, true},
    {"look, it is not set", Act::look, false},     {"look, it is set", Act::look, true},
    {"wait, it is not set", Act::wait, false},     {"wait, it is set", Act::wait, true},
};
constexpr Case late_wait{"late wait, it is set", Act::late_wait, true};

class BarrierPlay final : public OperationPlay {
 public:
  BarrierPlay(const Case& played, const Disturbance& disturbance)
      : OperationPlay{disturbance}, case_{played} {
    barrier_.emplace(*client_, path);
  }

 private:
  [[nodiscard]] bool writes() const { return case_.act == Act::set || case_.act == Act::remove; }

  void prepare() override {
    if (!case_.is_set) return;
    world_.make("/barriers");
    world_.make(path);
  }

  void begin() override {
    switch (case_.act) {
      case Act::set: return barrier_->async_set(done());
      case Act::remove: return barrier_->async_remove(done());
      case Act::look: return barrier_->async_is_set(done());
      case Act::wait: return barrier_->async_wait(done());
      case Act::late_wait: return barrier_->async_wait_for(brief_limit, done());
    }
  }

  void meanwhile() override {
    if (case_.act != Act::wait || !case_.is_set) return;
    world_.run_until([this] { return arrived() || world_.ensemble.watches() > 0; });
    if (arrived() && !disturbance_.cancel) complain("it ends before the barrier is removed");
    if (!arrived()) world_.remove(path);
  }

  void judge(error_code error, std::int64_t result) override {
    if (writes()) judge_repetitions();
    if (error && writes()) return judge_unknown(error);
    if (error) return complain("it fails: " + error.message());
    switch (case_.act) {
      case Act::set:
        if (!exists(path)) complain("not set");
        return;
      case Act::remove:
        if (exists(path)) complain("not removed");
        return;
      case Act::look:
        if ((result != 0) != case_.is_set) complain("the answer is wrong");
        return;
      case Act::wait: return;
      case Act::late_wait:
        if (result != 0) complain("it was never removed");
        return;
    }
  }

  /// A write whose reply was lost may undo what others have done since, if it is repeated.
  void judge_repetitions() {
    const auto history = world_.ensemble.history();
    for (const auto& [at, fault] : disturbance_.faults) {
      if (!Disturbance{.faults = {{at, fault}}}.hides_an_outcome() || at >= history.size())
        continue;
      const bool is_doubtful = history[at].path == path && history[at].kind != "get";
      if (is_doubtful && at + 1 != history.size()) complain("a doubtful write was repeated");
    }
  }

  void forget() override { barrier_.reset(); }

  const Case case_;
  std::optional<DistributedBarrier> barrier_;
};

Played playing(const Case& played) {
  return [&played](const Disturbance& disturbance) {
    return BarrierPlay{played, disturbance}.run();
  };
}

std::size_t undisturbed_steps(const Case& played) {
  // The node is missing, and so is its parent.
  if (played.act == Act::set) return played.is_set ? 1 : 3;
  if (played.act == Act::remove) return 1;
  return 2;
}

TEST_CASE("barrier: every operation survives every fault, or says what it does not know",
          "[barrier]") {
  for (const Case& each : all_cases) {
    INFO(each.name);
    CHECK(play_every_fault(each.name, playing(each)) == undisturbed_steps(each));
  }
}

TEST_CASE("barrier: a wait that is late ends through every fault", "[barrier]") {
  CHECK(play_every_fault(late_wait.name, playing(late_wait)) == 2);
}

template <typename Play>
void play_cases(Act act, Play play) {
  for (const Case& each : all_cases) {
    if (each.act == act) play(each.name, playing(each));
  }
}

// A test case for each operation, for all together take long.
TEST_CASE("barrier: setting it survives every pair of faults", "[pairs]") {
  play_cases(Act::set, play_every_pair);
}
TEST_CASE("barrier: removing it survives every pair of faults", "[pairs]") {
  play_cases(Act::remove, play_every_pair);
}
TEST_CASE("barrier: a look survives every pair of faults", "[pairs]") {
  play_cases(Act::look, play_every_pair);
}
TEST_CASE("barrier: a wait survives every pair of faults", "[pairs]") {
  play_cases(Act::wait, play_every_pair);
}

TEST_CASE("barrier: a cancelled write ends, at every moment, beside every fault", "[cancelled]") {
  play_cases(Act::set, play_every_cancellation);
  play_cases(Act::remove, play_every_cancellation);
}
TEST_CASE("barrier: a cancelled look or wait ends, at every moment, beside every fault",
          "[cancelled]") {
  play_cases(Act::look, play_every_cancellation);
  play_cases(Act::wait, play_every_cancellation);
}

}  // namespace
}  // namespace custodian::tests::barrier_faults_test
