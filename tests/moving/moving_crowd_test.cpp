// Processes cycle locks on a map that moves again and again, while they are killed, cut off and
// stopped: no two processes hold a lock at once, and no process waits for ever.
//
// CUSTODIAN_TEST_MOVING=8,2000,10,600 sets the numbers of processes, paths and moves, and the
// seconds; by default the test is short.

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "custodian/deadline.hpp"
#include "moving/lines.hpp"
#include "moving/plan.hpp"
#include "moving/scene.hpp"
#include "moving/troubles.hpp"
#include "support/catch.hpp"
#include "support/results.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::moving::moving_crowd_test {
namespace {

using namespace std::chrono_literals;
using Homes = std::map<std::string, std::string>;

/// Moves the map step by step, and looks where the paths are.
class Moves {
 public:
  explicit Moves(const Measure& measure)
      : scene{measure}, slice_{std::chrono::seconds{measure.seconds} / measure.moves} {
    homes_ = scene.visit_all();
  }

  void move(int step) {
    const Deadline end{slice_};
    const std::string grows = growing(step);
    Place& holder = keep_some(step, grows);
    // A holder that does not reach the new home keeps the move waiting; a holder that reaches it
    // does not.
    if (step % 2 == 1) troubles.cut_off(holder, grows);
    plan_troubles();
    // The workers use the map for a while first.
    pass(slice_ / 10);
    const std::int64_t begun = now();
    scene.start_move(step);
    // Two movers of three are killed, at various points.
    if (step % 3 != 0) troubles.plan_end_of_mover(step * 131 % 1000 * 1ms, step);
    wait_for("the end of the move", [&] { return scene.has_moved(step); });
    const auto took = (now() - begun) / 1'000'000;
    // Gives a waiter time to acquire the path, which it must not.
    pass(1s);
    scene.tell_workers("let-go");
    while (!end.passed() || !troubles.is_over()) pass(200ms);
    look_at_homes(step);
    std::cout << "  move " << step << ": " << took << " ms, moved " << share_
              << " of the paths, ideal " << ideal_ << '\n'
              << std::flush;
  }

  Scene scene;
  Troubles troubles{scene};

 private:
  void wait_for(const std::string& what, const std::function<bool()>& condition) {
    scene.wait_for(what, [&] {
      troubles.tick();
      return condition();
    });
  }
  void pass(std::chrono::milliseconds time) {
    scene.pass(time, [this] { troubles.tick(); });
  }
  /// Begins some holds that last longer than the move, of paths that move to the ensemble that
  /// grows. For each of them another process waits. Returns the place of the first holder.
  Place& keep_some(int step, const std::string& grows) {
    const EnsembleLayout next = layout_of_step(step);
    std::deque<Place>& workers = scene.workers();
    std::size_t kept = 0;
    // All workers contend for the first paths, so the search begins with the last one.
    for (const auto& [path, home] : std::views::reverse(homes_)) {
      if (kept == workers.size()) break;
      if (home == grows || next.home_of(path) != grows) continue;
      scene.keep(workers[kept], path);
      scene.tell(workers[++kept % workers.size()], "hold " + path);
    }
    REQUIRE(kept > 0);
    return workers.front();
  }
  /// The ensemble to which most of the moving paths go.
  std::string growing(int step) const {
    const EnsembleLayout next = layout_of_step(step);
    std::map<std::string, int> come;
    for (const auto& [path, home] : homes_) {
      if (next.home_of(path) != home) ++come[next.home_of(path)];
    }
    return come["east"] > come["west"] ? "east" : "west";
  }
  /// Plans some troubles for the beginning of the move, and then one every four seconds.
  void plan_troubles() {
    for (int i = 0; i < 3; ++i) troubles.plan_next(slice_ / 10 + i * 500ms);
    constexpr std::chrono::milliseconds each = 4s;
    for (std::chrono::milliseconds at = 3 * each; at + 2 * each < slice_; at += each) {
      troubles.plan_next(at);
    }
  }
  void look_at_homes(int step) {
    const Homes before = std::exchange(homes_, scene.visit_all());
    const EnsembleLayout from = layout_of_step(step - 1);
    const EnsembleLayout to = layout_of_step(step);
    double moved = 0;
    for (const std::string& path : scene.paths()) {
      REQUIRE(homes_.contains(path));
      if (homes_.at(path) != to.home_of(path)) scene.judge().note(path + " is not at its home");
      moved += homes_.at(path) == before.at(path) ? 0 : 1;
    }
    share_ = moved / static_cast<double>(scene.paths().size());
    ideal_ = ideal_share(from, to, scene.paths());
    CHECK(std::abs(share_ - ideal_) <= slack_of_share(from, to, scene.paths()));
  }

  const std::chrono::milliseconds slice_;
  Homes homes_;
  double share_ = 0;
  double ideal_ = 0;
};

/// The first violations: with one there are often thousands.
std::vector<std::string> first_of(std::vector<std::string> violations) {
  constexpr std::size_t most = 10;
  violations.resize(std::min(violations.size(), most));
  return violations;
}

void require_none(Scene& scene) {
  const auto violations = scene.judge().violations();
  if (!violations.empty()) {
    std::cout << "  all that the processes have said is in " << scene.journal().keep() << '\n';
  }
  const std::vector<std::string> none;
  REQUIRE(first_of(violations) == none);
}

TEST_CASE("a map moves under processes that are killed and cut off, and no lock has two holders") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Measure measure = measure_from_environment();
  Moves moves{measure};
  for (int step = 1; step <= measure.moves; ++step) {
    moves.move(step);
    require_none(moves.scene);
  }
  Scene& scene = moves.scene;
  scene.rest();
  CHECK(eventually([&] { return scene.nodes_left() == 0; }));
  require_none(scene);
  CHECK(scene.judge().grants() > 0);
  const Troubles& troubles = moves.troubles;
  std::cout << "  " << scene.judge().grants() << " grants, " << measure.moves << " moves, "
            << troubles.kills << " kills, " << troubles.cuts << " cuts, " << troubles.stops
            << " stops, " << troubles.server_kills << " kills of servers; " << scene.lost
            << " leases lost, no violation; writes by token " << scene.judge().writes()
            << " accepted, " << scene.refused_stale << " stale ones refused, by check "
            << scene.judge().guarded_writes() << " accepted, " << scene.unwritten
            << " not; longest wait " << scene.longest_wait_ms << " ms\n";
}

}  // namespace
}  // namespace custodian::tests::moving::moving_crowd_test
