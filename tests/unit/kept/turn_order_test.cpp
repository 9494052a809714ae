#include "kept/turn_order.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace custodian::recipes_detail::cohort_order_test {
namespace {

using Line = CohortOrder::Line;
using Ending = CohortOrder::Ending;

TEST_CASE("a batch stands in line for each who waits, up to a few", "[cohort_order]") {
  CohortOrder order{2};
  for (int i = 0; i < CohortOrder::most_in_line; ++i) CHECK(order.enter().line == Line::stand);
  CHECK(order.enter().line == Line::as_it_is);
  CHECK_FALSE(order.held());
  CHECK(order.on_first().line == Line::stand);
  CHECK(order.on_done(order.tenure(), true).line == Line::as_it_is);
}

TEST_CASE("a batch passes its node on in the order in which they came, so often and no more",
          "[cohort_order]") {
  CohortOrder order{2};
  std::vector<CohortOrder::Id> came;
  for (int i = 0; i < 4; ++i) came.push_back(order.enter().id);
  const auto first = order.on_first();
  CHECK(first.holder == came[0]);
  CHECK(first.line == Line::as_it_is);
  CHECK(order.on_done(order.tenure(), true).holder == came[1]);
  CHECK(order.on_done(order.tenure(), true).holder == came[2]);
  const auto last = order.on_done(order.tenure(), true);
  CHECK(last.holder == std::nullopt);
  CHECK(last.line == Line::as_it_is);
  CHECK_FALSE(order.held());
  CHECK(order.on_first().holder == came[3]);
}

TEST_CASE("a batch does not pass a lost node on", "[cohort_order]") {
  CohortOrder order{2};
  static_cast<void>(order.enter());
  static_cast<void>(order.on_first());
  const auto waits = order.enter();
  CHECK(waits.line == Line::stand);
  CHECK(order.on_done(order.tenure(), false).holder == std::nullopt);
  CHECK(order.on_first().holder == waits.id);
}

TEST_CASE("whoever lets go late of a lost node gets nobody in", "[cohort_order]") {
  CohortOrder order{2};
  static_cast<void>(order.enter());
  static_cast<void>(order.on_first());
  const auto lost = order.tenure();
  static_cast<void>(order.enter());
  static_cast<void>(order.on_first());
  const auto waits = order.enter();
  CHECK(order.on_done(lost, true).holder == std::nullopt);
  CHECK(order.held());
  CHECK(order.on_done(order.tenure(), true).holder == waits.id);
}

TEST_CASE("a batch leaves the line when nobody waits and nobody holds", "[cohort_order]") {
  CohortOrder order{2};
  SECTION("the only one gives up") {
    const auto entry = order.enter();
    const auto exit = order.leave(entry.id);
    CHECK(exit.waited);
    CHECK(exit.line == Line::leave);
    CHECK_FALSE(order.leave(entry.id).waited);
  }
  SECTION("the last holder lets go") {
    static_cast<void>(order.enter());
    static_cast<void>(order.on_first());
    static_cast<void>(order.enter());
    CHECK(order.on_done(order.tenure(), true).line == Line::as_it_is);
    CHECK(order.on_done(order.tenure(), true).line == Line::leave);
  }
  SECTION("the last one who waits behind the holder gives up") {
    static_cast<void>(order.enter());
    static_cast<void>(order.on_first());
    const auto second = order.enter();
    const auto third = order.enter();
    CHECK(order.leave(third.id).line == Line::as_it_is);
    CHECK(order.leave(second.id).line == Line::leave);
  }
  SECTION("and stands there again when somebody comes before that is done") {
    const auto entry = order.enter();
    CHECK(order.leave(entry.id).line == Line::leave);
    CHECK(order.enter().line == Line::as_it_is);
    CHECK(order.on_ending(Ending::left).line == Line::stand);
  }
}

TEST_CASE("what ends the one in line ends one acquire, or all", "[cohort_order]") {
  CohortOrder order{2};
  const auto first = order.enter().id;
  const auto second = order.enter().id;
  SECTION("one") {
    const auto failure = order.on_ending(Ending::failed_for_one);
    CHECK(failure.failed == std::vector{first});
    CHECK(failure.line == Line::as_it_is);
  }
  SECTION("all") {
    const auto failure = order.on_ending(Ending::failed_for_all);
    CHECK(failure.failed == std::vector{first, second});
    CHECK(failure.line == Line::leave);
  }
  SECTION("nor one if there are others in line for all who wait") {
    static_cast<void>(order.on_first());
    static_cast<void>(order.enter());
    CHECK(order.leave(second).waited);
    CHECK(order.on_ending(Ending::failed_for_one).failed.empty());
  }
}

/// Plays every sequence of events up to a length, and checks the invariants after each event.
class Explorer {
 public:
  std::size_t explored = 0;

  /// Explores from a state with so many waiters.
  void explore(std::size_t waiting, std::size_t steps) {
    CohortOrder order{2};
    for (std::size_t i = 0; i < waiting; ++i) enter(order);
    explore(order, "", steps);
  }

 private:
  struct State {
    std::vector<CohortOrder::Id> waiting;
    std::size_t in_line = 0;
    std::size_t leaving = 0;  ///< those of `in_line` that are leaving
    bool held = false;
    int max_local_handoffs = 0;
  };

  void explore(const CohortOrder& order, const std::string& past, std::size_t steps) {
    if (past.size() == steps) return;
    ++explored;
    const State before = state_;
    const auto each = [&](char what, auto happens) {
      CohortOrder next = order;
      state_ = before;
      past_ = past + what;
      happens(next);
      check();
      explore(next, past + what, steps);
      state_ = before;
    };
    if (state_.waiting.size() < 6) each('e', [&](CohortOrder& next) { enter(next); });
    if (!state_.waiting.empty()) {
      each('x', [&](CohortOrder& next) {
        const auto exit = next.leave(state_.waiting.back());
        expect(exit.waited, "who waited is told so");
        state_.waiting.pop_back();
        follow(exit.line);
      });
    }
    for (const bool leaving : {true, false}) {
      if (leaving ? state_.leaving == 0 : state_.leaving == state_.in_line) continue;
      each(leaving ? 'F' : 'f', [&](CohortOrder& next) {
        leave_line(leaving);
        const auto first = next.on_first();
        expect(first.holder.has_value() == !state_.waiting.empty(),
               "the first in line is somebody's");
        if (first.holder) {
          take(*first.holder);
          state_.held = true;
          state_.max_local_handoffs = 0;
        }
        follow(first.line);
      });
      if (!leaving) {
        each('a', [&](CohortOrder& next) {
          leave_line(leaving);
          const auto failure = next.on_ending(Ending::failed_for_all);
          expect(failure.failed == state_.waiting, "all fail who wait, in order");
          state_.waiting.clear();
          follow(failure.line);
        });
      }
      each(leaving ? 'L' : 'l', [&](CohortOrder& next) {
        leave_line(leaving);
        const auto failure = next.on_ending(leaving ? Ending::left : Ending::failed_for_one);
        for (const auto id : failure.failed) take(id);
        follow(failure.line);
      });
    }
    if (state_.held) {
      for (const bool sound : {true, false}) {
        each(sound ? 'd' : 'u', [&](CohortOrder& next) {
          const auto done = next.on_done(next.tenure(), sound);
          const bool passes_on = sound && state_.max_local_handoffs < 2 && !state_.waiting.empty();
          expect(done.holder.has_value() == passes_on, "it passes on so often, and if sound");
          state_.held = passes_on;
          if (done.holder) {
            take(*done.holder);
            ++state_.max_local_handoffs;
          }
          follow(done.line);
        });
      }
    }
  }

  void check() {
    constexpr std::size_t most = CohortOrder::most_in_line;
    expect(state_.in_line >= std::min(state_.waiting.size(), most), "whoever waits is stood for");
    expect(state_.in_line <= most, "no more stand in line than may");
    expect(!state_.waiting.empty() || state_.held || state_.in_line == state_.leaving,
           "with nobody left the line is left, too");
  }
  void enter(CohortOrder& order) {
    const auto entry = order.enter();
    state_.waiting.push_back(entry.id);
    follow(entry.line);
  }
  void leave_line(bool leaving) {
    --state_.in_line;
    if (leaving) --state_.leaving;
  }
  void take(CohortOrder::Id id) {
    const bool is_next = !state_.waiting.empty() && state_.waiting.front() == id;
    expect(is_next, "whose turn it is has waited longest");
    if (is_next) state_.waiting.erase(state_.waiting.begin());
  }
  void follow(Line line) {
    if (line == Line::stand) ++state_.in_line;
    if (line == Line::leave) {
      expect(state_.in_line > 0, "who leaves the line is in it");
      state_.leaving = state_.in_line;
    }
  }

  /// Replaces Catch2's CHECK: a million of those take most of a minute under a sanitizer.
  void expect(bool holds, std::string_view what) {
    if (!holds) FAIL_CHECK("broken after " << past_ << ": " << what);
  }

  State state_;
  std::string past_;  ///< the events so far, a letter each
};

TEST_CASE("a batch keeps its promises whatever happens in whatever order", "[cohort_order]") {
  Explorer explorer;
  SECTION("from the first one on") { explorer.explore(0, 10); }
  SECTION("when many wait") { explorer.explore(5, 8); }
  CHECK(explorer.explored > 5'000);
}

}  // namespace
}  // namespace custodian::recipes_detail::cohort_order_test
