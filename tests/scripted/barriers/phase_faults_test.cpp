// An InterProcessBarrier with a fault at each request of one arrival, and cancelled at each moment:
// no arrival passes alone, no arrival counts twice, and nothing is left behind.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <list>
#include <optional>

#include "barriers/phase_rules.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/barriers/operation_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::phase_faults_test {
namespace {

const std::string path = "/phases/one";
constexpr std::int32_t expected = 2;

enum class Act { arrive, give_up };

struct Case {
  const char* name;
  Act act;
  std::size_t before;  ///< others that wait
  std::size_t after;   ///< others that come later
  bool exists;         ///< the barrier's node
  std::size_t steps;   ///< 0 if they depend on whose name is lower
  /// The others come with this request.
  std::optional<std::size_t> others_at{};
};

constexpr Case all_cases[] = {
    {"arrive first, there is no barrier", Act::arrive, 0, 1, false, 8},
    {"arrive first", Act::arrive, 0, 1, true, 4},
    {"arrive last", Act::arrive, 1, 0, true, 4},
    {"arrive beside two others", Act::arrive, 0, 3, true, 0},
};
constexpr Case alone{"give up", Act::give_up, 0, 0, true, 5};

/// The observed arrival, and others of a client that has no faults.
class PhasePlay final : public OperationPlay {
 public:
  PhasePlay(const Case& played, const Disturbance& disturbance)
      : OperationPlay{disturbance}, case_{played}, others_client_{world_.client("other")} {
    own_.emplace(*client_, path, expected);
    others_barrier_.emplace(*others_client_, path, expected);
  }

 private:
  [[nodiscard]] std::size_t nodes() { return world_.ensemble.children(path).size(); }
  [[nodiscard]] std::size_t phases() {
    return static_cast<std::size_t>(world_.ensemble.operate(request::Get{path}).stat.version);
  }
  [[nodiscard]] std::size_t passed_others() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        others_, [](const auto& each) { return each.arrived() && !each.error(); }));
  }
  void let_another_arrive() {
    others_.emplace_back();
    others_barrier_->async_arrive_and_wait(others_.back().handler());
  }

  void prepare() override {
    if (case_.exists) {
      world_.make("/phases");
      world_.make(path);
    }
    for (std::size_t i = 0; i < case_.before; ++i) let_another_arrive();
    world_.run_until([this] {
      return nodes() == case_.before && (case_.before == 0 || world_.ensemble.watches() == 1);
    });
    world_.settle();
  }

  void on_request(std::size_t step) override {
    if (case_.others_at != step) return;
    boost::asio::post(world_.context, [this] { let_another_arrive(); });
  }

  void begin() override {
    if (case_.act == Act::arrive) return own_->async_arrive_and_wait(done());
    own_->async_arrive_and_wait_for(brief_limit, done());
  }

  void meanwhile() override {
    if (case_.after == 0) return;
    world_.run_until([this] { return arrived() || (nodes() == 1 && watches_left() == 1); });
    if (arrived() && !disturbance_.cancel) complain("it passes alone");
    for (std::size_t i = 0; i < case_.after; ++i) let_another_arrive();
  }

  void judge(error_code error, std::int64_t result) override {
    has_passed_ = !error && result != 0;
    // After two phases, the second one without it, it cannot know.
    const bool may_have_missed = case_.after > 1 && loses_session();
    if (error == Errc::session_lost && may_have_missed) return;
    if (error) return complain("it fails: " + error.message());
    if (case_.act == Act::arrive && result == 0) complain("it is late without a limit");
    if (case_.act == Act::give_up && result != 0 && !case_.others_at) complain("it passes alone");
  }
  [[nodiscard]] bool loses_session() const {
    return std::ranges::any_of(disturbance_.faults, [](const auto& each) {
      const FaultKind kind = each.second.kind;
      return kind == FaultKind::expire_before || kind == FaultKind::expire_after;
    });
  }

  void judge_servers() override {
    // The others that are there pass, as far as they are enough.
    const std::size_t all = others_.size() + (has_passed_ ? 1 : 0);
    if (has_passed_ &&
        !world_.run_until([&] { return passed_others() == all / expected * 2 - 1; })) {
      complain("its phase has not ended with two");
    }
    world_.settle();
    const std::size_t passed = passed_others() + (has_passed_ ? 1 : 0);
    // An arrival that was given up while the servers could not be asked may have been counted.
    const std::size_t doubtful = has_passed_ ? 0 : 1;
    const std::size_t counted = phases() * expected;
    if (passed > counted) complain("more have passed than were counted");
    if (passed + doubtful < counted) complain("more were counted than have passed");
    if (!has_passed_ && passed < counted && !disturbance_.hides_an_outcome()) {
      complain("an arrival that was taken back is counted");
    }
    own_.reset();
    // What is left does not disturb the next phases.
    const std::size_t more = nodes() == 0 ? 2 : 1;
    for (std::size_t i = 0; i < more; ++i) let_another_arrive();
    if (!world_.run_until([this] {
          return std::ranges::all_of(others_, [](const auto& each) { return each.arrived(); });
        })) {
      complain("the next phase does not end");
    }
    if (!world_.run_until([this] { return nodes() == 0; })) complain("a node is left");
    others_barrier_.reset();
    if (!world_.end(others_client_)) complain("something keeps the other client alive");
  }

  void forget() override {}

  std::size_t watches_left() override { return world_.ensemble.watches(client_->session().id); }

  const Case case_;
  std::unique_ptr<Client> others_client_;
  std::optional<InterProcessBarrier> own_;
  std::optional<InterProcessBarrier> others_barrier_;
  std::list<Outcome<>> others_;
  bool has_passed_ = false;
};

Played playing(const Case& played) {
  return [&played](const Disturbance& disturbance) { return PhasePlay{played, disturbance}.run(); };
}

TEST_CASE("phases: an arrival survives every fault", "[phases]") {
  for (const Case& each : all_cases) {
    INFO(each.name);
    const std::size_t steps = play_every_fault(each.name, playing(each));
    CHECK((each.steps == 0 || steps == each.steps));
  }
}

TEST_CASE("phases: an arrival that is late is taken back, through every fault", "[phases]") {
  CHECK(play_every_fault(alone.name, playing(alone)) == alone.steps);
}

TEST_CASE("phases: an arrival that is late while another one comes passes with it, or not",
          "[phases]") {
  for (std::size_t at = 0; at <= alone.steps; ++at) {
    Case raced = alone;
    raced.others_at = at;
    INFO("the other one comes with request " << at);
    play_every_fault(raced.name, playing(raced));
  }
}

TEST_CASE("phases: an arrival survives every pair of faults", "[pairs]") {
  for (const Case& each : all_cases) play_every_pair(each.name, playing(each));
}

TEST_CASE("phases: an arrival that is cancelled has passed, or is taken back", "[cancelled]") {
  for (const Case& each : all_cases) play_every_cancellation(each.name, playing(each));
}

}  // namespace
}  // namespace custodian::tests::phase_faults_test
