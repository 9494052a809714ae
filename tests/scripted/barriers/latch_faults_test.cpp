// A latch with a fault at each request, and cancelled at each moment: every arrival is counted
// once, or the caller learns that this is unknown, and nothing is left behind.

#include <boost/asio/post.hpp>
#include <iostream>
#include <map>
#include <optional>

#include "barriers/latch_tickets.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "scripted/barriers/operation_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::latch_faults_test {
namespace {

using recipes_detail::ticket_name;

const std::string path = "/latches/one";
constexpr std::int32_t expected = 5;
constexpr int no_latch = -1;

enum class Act { count_down, arrive_and_wait, wait, late_wait, try_wait, count };

struct Case {
  const char* name;
  Act act;
  int before;        ///< arrivals, or no_latch
  int arrivals = 0;  ///< of the operation
  std::size_t steps;
  /// A rival arrives with this request.
  std::optional<std::size_t> rival_at{};
};

const Case all_cases[] = {
    {"arrive, there is no latch", Act::count_down, no_latch, 1, 6},
    {"arrive first", Act::count_down, 0, 1, 2},
    {"arrive", Act::count_down, 3, 1, 2},
    {"two arrive", Act::count_down, 1, 2, 2},
    {"more arrive than are missing", Act::count_down, 3, 9, 2},
    {"arrive at an open latch", Act::count_down, expected, 1, 2},
    {"nobody arrives", Act::count_down, 3, 0, 1},
    {"arrive and wait", Act::arrive_and_wait, 2, 1, 3},
    {"arrive last and wait", Act::arrive_and_wait, 4, 1, 3},
    {"wait, there is no latch", Act::wait, no_latch, 0, 6},
    {"wait", Act::wait, 3, 0, 2},
    {"wait at an open latch", Act::wait, expected, 0, 2},
    {"late wait", Act::late_wait, 3, 0, 2},
    {"try to wait, there is no latch", Act::try_wait, no_latch, 0, 1},
    {"try to wait", Act::try_wait, 4, 0, 1},
    {"try to wait at an open latch", Act::try_wait, expected, 0, 1},
    {"count, there is no latch", Act::count, no_latch, 0, 1},
    {"count", Act::count, 3, 0, 1},
};

class LatchPlay final : public OperationPlay {
 public:
  LatchPlay(const Case& played, const Disturbance& disturbance)
      : OperationPlay{disturbance}, case_{played} {
    latch_.emplace(*client_, path, expected);
  }

 private:
  [[nodiscard]] bool waits() const {
    return case_.act == Act::wait || case_.act == Act::arrive_and_wait;
  }

  void prepare() override {
    if (case_.before == no_latch) return;
    world_.make("/latches");
    world_.make(path, std::to_string(expected));
    for (int i = 0; i < case_.before; ++i) let_rival_arrive();
  }

  void let_rival_arrive() {
    const auto next = static_cast<std::int32_t>(world_.ensemble.children(path).size());
    if (next < expected) world_.make(path + "/" + ticket_name(next), "rival");
  }

  void on_request(std::size_t step) override {
    if (case_.rival_at != step) return;
    boost::asio::post(world_.context, [this] { let_rival_arrive(); });
  }

  void begin() override {
    switch (case_.act) {
      case Act::count_down: return latch_->async_count_down(case_.arrivals, done());
      case Act::arrive_and_wait: return latch_->async_arrive_and_wait(case_.arrivals, done());
      case Act::wait: return latch_->async_wait(done());
      case Act::late_wait: return latch_->async_wait_for(brief_limit, done());
      case Act::try_wait: return latch_->async_try_wait(done());
      case Act::count: return latch_->async_count(done());
    }
  }

  void meanwhile() override {
    if (!waits()) return;
    world_.run_until([this] { return arrived() || world_.ensemble.watches() > 0; });
    const bool is_open = world_.ensemble.children(path).size() == expected;
    if (arrived() && !is_open && !disturbance_.cancel) complain("it ends before the latch is open");
    while (!arrived() && world_.ensemble.children(path).size() < expected) let_rival_arrive();
  }

  void judge(error_code error, std::int64_t result) override {
    failed_ = error;
    if (error) return complain("it fails: " + error.message());
    const bool is_open = world_.ensemble.children(path).size() == expected;
    if (waits() && !is_open) complain("the latch is not open");
    if (case_.act == Act::late_wait && result != 0)
      complain("the latch is not open, and it says so");
    if (case_.act == Act::try_wait && (result != 0) != is_open) complain("the answer is wrong");
    if (case_.act == Act::count && result != expected - std::max(case_.before, 0)) {
      complain("the number is wrong");
    }
  }

  void judge_servers() override {
    int own = 0;
    std::map<std::string, int> arrivers;
    std::int32_t next = 0;
    for (const std::string& name : world_.ensemble.children(path)) {
      if (name != ticket_name(next++)) complain("there is a gap before ticket " + name);
      const auto get = request::Get{std::string{path}.append("/").append(name)};
      const std::string data = world_.ensemble.operate(get).data;
      if (data != "rival") ++own, ++arrivers[data];
    }
    if (arrivers.size() > 1) complain("it has arrived more than once");
    const int rivals = case_.rival_at ? 1 : 0;
    const int missing = expected - std::max(case_.before, 0);
    const int at_most = std::min(case_.arrivals, missing);
    const int at_least = std::min(case_.arrivals, std::max(0, missing - rivals));
    const bool is_doubtful = failed_ || disturbance_.cancel;
    if (own > at_most) complain("it is counted too often");
    if (own < at_least && !(is_doubtful && own == 0)) complain("it is not counted");
  }

  void forget() override { latch_.reset(); }

  const Case case_;
  std::optional<CountDownLatch> latch_;
  error_code failed_;
};

Played playing(const Case& played) {
  return [&played](const Disturbance& disturbance) { return LatchPlay{played, disturbance}.run(); };
}

TEST_CASE("count-down latch: every operation survives every fault, or says what it does not know",
          "[count-down]") {
  for (const Case& each : all_cases) {
    INFO(each.name);
    CHECK(play_every_fault(each.name, playing(each)) == each.steps);
  }
}

/// Plays the cases of one kind, and those without a latch apart, since they take the most requests.
template <typename Play>
void play_cases(Act act, bool has_latch, Play play) {
  for (const Case& each : all_cases) {
    if (each.act == act && (each.before != no_latch) == has_latch) play(each.name, playing(each));
  }
}

// A test case for each kind, for all together take long.
TEST_CASE("count-down latch: an arrival survives every pair of faults", "[pairs]") {
  play_cases(Act::count_down, true, play_every_pair);
}
TEST_CASE("count-down latch: an arrival that creates the latch survives every pair", "[pairs]") {
  play_cases(Act::count_down, false, play_every_pair);
}
TEST_CASE("count-down latch: an arrival that waits survives every pair of faults", "[pairs]") {
  play_cases(Act::arrive_and_wait, true, play_every_pair);
}
TEST_CASE("count-down latch: a wait survives every pair of faults", "[pairs]") {
  play_cases(Act::wait, true, play_every_pair);
}
TEST_CASE("count-down latch: a wait that creates the latch survives every pair", "[pairs]") {
  play_cases(Act::wait, false, play_every_pair);
}
TEST_CASE("count-down latch: a look survives every pair of faults", "[pairs]") {
  for (const bool has_latch : {true, false}) {
    play_cases(Act::try_wait, has_latch, play_every_pair);
    play_cases(Act::count, has_latch, play_every_pair);
  }
}

TEST_CASE("count-down latch: a cancelled arrival ends, at every moment, beside every fault",
          "[cancelled]") {
  play_cases(Act::count_down, true, play_every_cancellation);
}
TEST_CASE("count-down latch: a cancelled arrival that creates the latch ends, at every moment",
          "[cancelled]") {
  play_cases(Act::count_down, false, play_every_cancellation);
}
TEST_CASE("count-down latch: a cancelled wait ends, at every moment, beside every fault",
          "[cancelled]") {
  play_cases(Act::wait, true, play_every_cancellation);
  play_cases(Act::arrive_and_wait, true, play_every_cancellation);
}
TEST_CASE("count-down latch: a cancelled look ends, at every moment, beside every fault",
          "[cancelled]") {
  play_cases(Act::try_wait, true, play_every_cancellation);
  play_cases(Act::count, true, play_every_cancellation);
}

TEST_CASE("count-down latch: a rival that is quicker, at every request, costs nobody an arrival",
          "[count-down]") {
  for (const Case& each : all_cases) {
    if (each.act != Act::count_down && each.act != Act::arrive_and_wait) continue;
    if (each.before == no_latch) continue;
    for (std::size_t at = 0; at < each.steps; ++at) {
      Case rivalled = each;
      rivalled.rival_at = at;
      play_every_fault(std::string{each.name} + ", a rival with request " + std::to_string(at),
                       playing(rivalled));
    }
  }
}

TEST_CASE("count-down latch: an arrival that the servers see late is counted once",
          "[count-down]") {
  for (const Case& each : all_cases) {
    if (each.act != Act::count_down || each.arrivals == 0 || each.before == expected) continue;
    for (const bool has_rival : {false, true}) {
      for (int later = 1; later < 8; ++later) {
        Case played = each;
        const std::size_t transaction = each.steps - 1;
        if (has_rival) played.rival_at = transaction + 1;
        const Disturbance late{
            .faults = {{transaction, {.kind = FaultKind::apply_late, .requests_later = later}}}};
        INFO(each.name << ", " << later << " requests later, rival: " << has_rival);
        const PlayVerdict verdict = LatchPlay{played, late}.run();
        CHECK(verdict.violation == "");
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::latch_faults_test
