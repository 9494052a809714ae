// TurnOrder through every sequence of events up to a length.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kept/turn_order.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace custodian::recipes_detail::turn_order_explorer_test {
namespace {

using Line = TurnOrder::Line;
using Ending = TurnOrder::Ending;
using Fate = TurnOrder::Fate;

constexpr TurnRules two_passes{.max_local_handoffs = 2, .most_in_line = 4};

/// Plays every sequence of events up to a length, and checks the invariants after each event.
class Explorer {
 public:
  std::size_t explored = 0;

  /// Explores from a state with `waiting` waiters.
  void explore(std::size_t waiting, std::size_t steps) {
    TurnOrder order{two_passes};
    for (std::size_t i = 0; i < waiting; ++i) enter(order);
    explore(order, "", steps);
  }

 private:
  enum class Company { unknown, asked, none };
  struct State {
    std::vector<TurnOrder::Id> waiting;
    std::size_t in_line = 0;
    std::size_t leaving = 0;  ///< those of `in_line` that are leaving
    enum class Node { none, held, idle, released } node = Node::none;
    Company company = Company::unknown;
    int passes = 0;
  };
  using Node = State::Node;

  void explore(const TurnOrder& order, const std::string& past, std::size_t steps) {
    if (past.size() == steps) return;
    ++explored;
    const State before = state_;
    const auto each = [&](char what, auto happens) {
      TurnOrder next = order;
      state_ = before;
      past_ = past + what;
      happens(next);
      check(next);
      explore(next, past + what, steps);
      state_ = before;
    };
    if (state_.node == Node::idle) {
      each('t', [&](TurnOrder&) { state_.node = Node::held; });
      each('i', [&](TurnOrder& next) {
        released();
        follow(next.on_idle_gone());
      });
      return;
    }
    if (state_.waiting.size() < 6) each('e', [&](TurnOrder& next) { enter(next); });
    if (!state_.waiting.empty()) each('x', [&](TurnOrder& next) { give_up(next); });
    for (const bool leaving : {true, false}) {
      if (leaving ? state_.leaving == 0 : state_.leaving == state_.in_line) continue;
      explore_stand_in(each, leaving);
    }
    if (state_.node == Node::none) return;
    explore_company(each);
    if (state_.node != Node::held) return;
    for (const bool sound : {true, false}) {
      each(sound ? 'd' : 'u', [&](TurnOrder& next) { done(next, sound); });
    }
  }

  /// The possible ends of a stand-in.
  template <typename Each>
  void explore_stand_in(const Each& each, bool leaving) {
    for (const bool lists : {false, true}) {
      each(lists     ? 'q'
           : leaving ? 'F'
                     : 'f',
           [&](TurnOrder& next) {
             leave_line(leaving);
             const auto first = next.on_first(lists);
             expect(first.holder.has_value() == !state_.waiting.empty(),
                    "the first in line is somebody's");
             if (first.holder) {
               take(*first.holder);
               state_.node = Node::held;
               state_.company = lists ? Company::asked : Company::unknown;
               state_.passes = 0;
             }
             follow(first.line);
           });
    }
    if (!leaving) {
      each('a', [&](TurnOrder& next) {
        leave_line(leaving);
        const auto failure = next.on_ending(Ending::failed_for_all);
        expect(failure.failed == state_.waiting, "all fail who wait, in order");
        state_.waiting.clear();
        follow(failure.line);
      });
    }
    each(leaving ? 'L' : 'l', [&](TurnOrder& next) {
      leave_line(leaving);
      const auto failure = next.on_ending(leaving ? Ending::left : Ending::failed_for_one);
      for (const auto id : failure.failed) take(id);
      follow(failure.line);
    });
  }

  /// The client's reports on other contenders.
  template <typename Each>
  void explore_company(const Each& each) {
    if (state_.company == Company::asked && state_.in_line > state_.leaving) {
      each('m', [&](TurnOrder& next) { follow(next.dismiss_stand_ins()); });
    }
    if (state_.company == Company::asked) {
      for (const bool alone : {true, false}) {
        each(alone ? 'y' : 'n', [&](TurnOrder& next) { listed(next, alone); });
      }
    }
    if (state_.node == Node::held && state_.company != Company::unknown) {
      each('c', [&](TurnOrder& next) {
        state_.company = Company::unknown;
        follow(next.on_company());
      });
    }
  }

  void listed(TurnOrder& order, bool alone) {
    const bool waits = state_.node == Node::released;
    const auto next = order.on_listed(alone, waits, true);
    state_.company = alone ? Company::none : Company::unknown;
    if (waits) {
      settle(next);
    } else {
      follow(next.line);
    }
  }
  void done(TurnOrder& order, bool sound) {
    const bool waits = !state_.waiting.empty();
    const bool alone = state_.company == Company::none;
    const bool passes = sound && waits && (alone || state_.passes < 2);
    const auto next = order.on_done(order.tenure(), sound);
    expect((next.fate == Fate::pass) == passes, "it passes on so often, and if sound");
    expect((next.fate == Fate::idle) == (sound && !waits && alone), "only who is alone keeps it");
    const bool stays = sound && waits && !passes && state_.company == Company::asked;
    expect((next.fate == Fate::wait) == stays, "it waits for the listing if there are waiters");
    if (passes && !alone) ++state_.passes;
    settle(next);
  }
  void settle(const TurnOrder::Next& next) {
    switch (next.fate) {
      case Fate::release: released(); break;
      case Fate::idle: state_.node = Node::idle; break;
      case Fate::wait: state_.node = Node::released; break;
      case Fate::pass:
        take(*next.holder);
        state_.node = Node::held;
        break;
    }
    follow(next.line);
  }
  void released() {
    state_.node = Node::none;
    state_.company = Company::unknown;
  }

  void check(const TurnOrder& order) {
    constexpr std::size_t most = two_passes.most_in_line;
    if (state_.company == Company::unknown) {
      expect(state_.in_line >= std::min(state_.waiting.size(), most), "whoever waits is stood for");
    }
    expect(state_.in_line <= most, "no more stand in line than may");
    expect(!state_.waiting.empty() || state_.node != Node::none || state_.in_line == state_.leaving,
           "with nobody left the line is left, too");
    expect(order.held() == (state_.node != Node::none), "it is known whether there is a node");
    expect(order.is_alone() == (state_.company == Company::none), "and who is alone");
  }
  void enter(TurnOrder& order) {
    const auto entry = order.enter();
    state_.waiting.push_back(entry.id);
    follow(entry.line);
  }
  void give_up(TurnOrder& order) {
    const auto exit = order.leave(state_.waiting.back());
    expect(exit.waited, "who waited is told so");
    state_.waiting.pop_back();
    follow(exit.line);
  }
  void leave_line(bool leaving) {
    --state_.in_line;
    if (leaving) --state_.leaving;
  }
  void take(TurnOrder::Id id) {
    const bool is_next = !state_.waiting.empty() && state_.waiting.front() == id;
    expect(is_next, "whose turn it is has waited longest");
    if (is_next) state_.waiting.erase(state_.waiting.begin());
  }
  void follow(Line line) {
    state_.in_line += line.stand;
    if (line.leave) {
      expect(state_.in_line > 0, "who leaves the line is in it");
      state_.leaving = state_.in_line;
    }
  }

  /// Replaces Catch2's CHECK, a million of which take most of a minute under a sanitizer.
  void expect(bool holds, std::string_view what) {
    if (!holds) FAIL_CHECK("broken after " << past_ << ": " << what);
  }

  State state_;
  std::string past_;  ///< the events so far, a letter each
};

/// With a sanitizer a step takes fifty times as long; it finds its faults in shorter histories,
/// too.
#if defined(CUSTODIAN_ADDRESS_SANITIZER) || defined(CUSTODIAN_THREAD_SANITIZER)
constexpr std::size_t fewer = 2;
#else
constexpr std::size_t fewer = 0;
#endif

TEST_CASE("a batch keeps its promises whatever happens in whatever order", "[turn_order]") {
  Explorer explorer;
  SECTION("from the first one on") { explorer.explore(0, 10 - fewer); }
  SECTION("when many wait") { explorer.explore(5, 8 - fewer); }
  CHECK(explorer.explored > 5'000);
}

}  // namespace
}  // namespace custodian::recipes_detail::turn_order_explorer_test
