#include "kept/turn_order.hpp"

#include <vector>

#include "support/catch.hpp"

namespace custodian::recipes_detail::turn_order_test {
namespace {

using Line = TurnOrder::Line;
using Ending = TurnOrder::Ending;
using Fate = TurnOrder::Fate;

constexpr TurnRules two_passes{.max_local_handoffs = 2, .most_in_line = 4};
constexpr Line as_it_is{};
constexpr Line stand{.stand = 1, .leave = false};
constexpr Line leave{.stand = 0, .leave = true};

TEST_CASE("a batch stands in line for each who waits, up to a few", "[turn_order]") {
  TurnOrder order{two_passes};
  for (std::size_t i = 0; i < two_passes.most_in_line; ++i) CHECK(order.enter().line == stand);
  CHECK(order.enter().line == as_it_is);
  CHECK_FALSE(order.held());
  CHECK(order.on_first().line == stand);
  CHECK(order.on_done(order.tenure(), true).line == as_it_is);
}

TEST_CASE("a batch passes its node on in the order in which they came, so often and no more",
          "[turn_order]") {
  TurnOrder order{two_passes};
  std::vector<TurnOrder::Id> came;
  for (int i = 0; i < 4; ++i) came.push_back(order.enter().id);
  const auto first = order.on_first();
  CHECK(first.holder == came[0]);
  CHECK(first.line == as_it_is);
  CHECK(order.on_done(order.tenure(), true).holder == came[1]);
  CHECK(order.on_done(order.tenure(), true).holder == came[2]);
  const auto last = order.on_done(order.tenure(), true);
  CHECK(last.holder == std::nullopt);
  CHECK(last.line == as_it_is);
  CHECK_FALSE(order.held());
  CHECK(order.on_first().holder == came[3]);
}

TEST_CASE("a batch does not pass a lost node on", "[turn_order]") {
  TurnOrder order{two_passes};
  static_cast<void>(order.enter());
  static_cast<void>(order.on_first());
  const auto waits = order.enter();
  CHECK(waits.line == stand);
  CHECK(order.on_done(order.tenure(), false).holder == std::nullopt);
  CHECK(order.on_first().holder == waits.id);
}

TEST_CASE("whoever lets go late of a lost node gets nobody in", "[turn_order]") {
  TurnOrder order{two_passes};
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

TEST_CASE("a batch leaves the line when nobody waits and nobody holds", "[turn_order]") {
  TurnOrder order{two_passes};
  SECTION("the only one gives up") {
    const auto entry = order.enter();
    const auto exit = order.leave(entry.id);
    CHECK(exit.waited);
    CHECK(exit.line == leave);
    CHECK_FALSE(order.leave(entry.id).waited);
  }
  SECTION("the last holder lets go") {
    static_cast<void>(order.enter());
    static_cast<void>(order.on_first());
    static_cast<void>(order.enter());
    CHECK(order.on_done(order.tenure(), true).line == as_it_is);
    CHECK(order.on_done(order.tenure(), true).line == leave);
  }
  SECTION("the last one who waits behind the holder gives up") {
    static_cast<void>(order.enter());
    static_cast<void>(order.on_first());
    const auto second = order.enter();
    const auto third = order.enter();
    CHECK(order.leave(third.id).line == as_it_is);
    CHECK(order.leave(second.id).line == leave);
  }
  SECTION("and stands there again when somebody comes before that is done") {
    const auto entry = order.enter();
    CHECK(order.leave(entry.id).line == leave);
    CHECK(order.enter().line == as_it_is);
    CHECK(order.on_ending(Ending::left).line == stand);
  }
}

TEST_CASE("what ends the one in line ends one acquire, or all", "[turn_order]") {
  TurnOrder order{two_passes};
  const auto first = order.enter().id;
  const auto second = order.enter().id;
  SECTION("one") {
    const auto failure = order.on_ending(Ending::failed_for_one);
    CHECK(failure.failed == std::vector{first});
    CHECK(failure.line == as_it_is);
  }
  SECTION("all") {
    const auto failure = order.on_ending(Ending::failed_for_all);
    CHECK(failure.failed == std::vector{first, second});
    CHECK(failure.line == leave);
  }
  SECTION("nor one if there are others in line for all who wait") {
    static_cast<void>(order.on_first());
    static_cast<void>(order.enter());
    CHECK(order.leave(second).waited);
    CHECK(order.on_ending(Ending::failed_for_one).failed.empty());
  }
}

// -- Alone ----------------------------------------------------------------------------------------

/// The order of a lock that is held, while the queue is being listed.
TurnOrder listed(TurnRules rules = two_passes) {
  TurnOrder order{rules};
  static_cast<void>(order.enter());
  static_cast<void>(order.on_first(true));
  return order;
}
TurnOrder alone(TurnRules rules = two_passes) {
  TurnOrder order = listed(rules);
  static_cast<void>(order.on_listed(true, false, false));
  return order;
}

TEST_CASE("a node without waiters stays, idle, if the client is alone", "[turn_order]") {
  TurnOrder order = alone();
  CHECK(order.on_done(order.tenure(), true).fate == Fate::idle);
  CHECK(order.held());
  SECTION("and the next caller has it") {
    CHECK(order.on_done(order.tenure(), true).fate == Fate::idle);
  }
  SECTION("until it is deleted") {
    CHECK(order.on_idle_gone() == as_it_is);
    CHECK_FALSE(order.held());
    CHECK(order.enter().line == stand);
  }
}

TEST_CASE("a node does not stay idle", "[turn_order]") {
  SECTION("before the listing is answered") {
    TurnOrder order = listed();
    CHECK(order.on_done(order.tenure(), true).fate == Fate::release);
  }
  SECTION("if the listing has shown others") {
    TurnOrder order = listed();
    static_cast<void>(order.on_listed(false, false, false));
    CHECK(order.on_done(order.tenure(), true).fate == Fate::release);
  }
  SECTION("when somebody has come") {
    TurnOrder order = alone();
    CHECK(order.on_company() == as_it_is);
    CHECK(order.on_done(order.tenure(), true).fate == Fate::release);
  }
  SECTION("when it may not be passed on") {
    TurnOrder order = alone();
    CHECK(order.on_done(order.tenure(), false).fate == Fate::release);
  }
  SECTION("if it is not the newest") {
    TurnOrder order = alone();
    const auto lost = order.tenure();
    static_cast<void>(order.enter());
    CHECK(order.on_company() == stand);
    static_cast<void>(order.on_first());
    CHECK(order.on_done(lost, true).fate == Fate::release);
    CHECK(order.held());
  }
}

TEST_CASE("a listing that is out of date says nothing of the next node", "[turn_order]") {
  TurnOrder order = listed();
  CHECK(order.on_done(order.tenure(), true).fate == Fate::release);
  SECTION("which is not there yet") {
    static_cast<void>(order.on_listed(true, false, false));
    CHECK_FALSE(order.is_alone());
    CHECK_FALSE(order.held());
  }
  SECTION("which is held") {
    static_cast<void>(order.enter());
    static_cast<void>(order.on_first());
    static_cast<void>(order.on_listed(true, false, false));
    CHECK_FALSE(order.is_alone());
  }
}

TEST_CASE("while the client is alone its waiters need no nodes, and passes have no limit",
          "[turn_order]") {
  TurnOrder order = alone({.max_local_handoffs = 0, .most_in_line = 4});
  for (int i = 0; i < 100; ++i) {
    const auto entry = order.enter();
    CHECK(entry.line == as_it_is);
    const auto next = order.on_done(order.tenure(), true);
    CHECK(next.fate == Fate::pass);
    CHECK(next.holder == entry.id);
  }
}

TEST_CASE("when somebody comes, each waiter gets a node in the queue at once", "[turn_order]") {
  TurnOrder order = alone({.max_local_handoffs = 0, .most_in_line = 3});
  for (int i = 0; i < 5; ++i) static_cast<void>(order.enter());
  CHECK(order.on_company() == Line{.stand = 3, .leave = false});
  CHECK(order.on_company() == as_it_is);
}

TEST_CASE("a released node waits for the listing if there are waiters", "[turn_order]") {
  TurnOrder order = listed({.max_local_handoffs = 0, .most_in_line = 4});
  const auto waits = order.enter();
  CHECK(waits.line == as_it_is);
  CHECK(order.on_done(order.tenure(), true).fate == Fate::wait);
  CHECK(order.held());
  SECTION("which shows that the client is alone") {
    const auto next = order.on_listed(true, true, true);
    CHECK(next.fate == Fate::pass);
    CHECK(next.holder == waits.id);
  }
  SECTION("which shows others") {
    const auto next = order.on_listed(false, true, true);
    CHECK(next.fate == Fate::release);
    CHECK(next.line == stand);
  }
  SECTION("which comes when the node may not be passed on any more") {
    CHECK(order.on_listed(true, true, false).fate == Fate::release);
    CHECK_FALSE(order.is_alone());
  }
  SECTION("though the waiter gives up meanwhile") {
    CHECK(order.leave(waits.id).waited);
    CHECK(order.on_listed(true, true, true).fate == Fate::idle);
  }
}

TEST_CASE("stand-ins leave for the second listing, and none comes before its answer",
          "[turn_order]") {
  TurnOrder order{two_passes};
  for (int i = 0; i < 3; ++i) static_cast<void>(order.enter());
  static_cast<void>(order.on_first(true));
  CHECK(order.dismiss_stand_ins() == leave);
  CHECK(order.on_ending(Ending::left).line == as_it_is);
  CHECK(order.on_ending(Ending::left).line == as_it_is);
  CHECK(order.enter().line == as_it_is);
  CHECK(order.on_listed(false, false, false).line == Line{.stand = 3, .leave = false});
}

}  // namespace
}  // namespace custodian::recipes_detail::turn_order_test
