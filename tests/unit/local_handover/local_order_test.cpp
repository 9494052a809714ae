#include "local_handover/local_order.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "support/catch.hpp"

namespace custodian::recipes_detail::local_order_test {
namespace {

using Members = std::vector<LocalEntry*>;

/// A queue of writers and readers, which are known by their numbers. Each stands right behind the
/// one before, and the first is granted.
class Line {
 public:
  explicit Line(std::string_view kinds) {
    for (const char kind : kinds) add(kind);
    REQUIRE(grant(of(0)).front() == &of(0));
  }

  LocalEntry& of(std::size_t number) { return members_.at(number); }
  LocalEntry& add(char kind) {
    LocalEntry& member =
        members_.emplace_back(kind == 'W' ? ContenderKind::exclusive : ContenderKind::shared);
    if (members_.size() > 1) static_cast<void>(stand_behind(member, of(members_.size() - 2)));
    return member;
  }
  Departure leave_in_order(std::size_t number) { return leave(of(number), true); }
  /// A letter for each member: g if granted, w if waiting.
  [[nodiscard]] std::string state() const {
    std::string states;
    for (const LocalEntry& each : members_) {
      states += each.granted ? 'g' : 'w';
    }
    return states;
  }

 private:
  std::deque<LocalEntry> members_;
};

TEST_CASE("in a line of writers each has the place of the one before", "[local_order]") {
  Line line{"WWW"};
  CHECK(line.state() == "gww");
  const Departure first = line.leave_in_order(0);
  CHECK(first.successor == &line.of(1));
  CHECK(first.granted == Members{&line.of(1)});
  CHECK(first.look_again.empty());
  CHECK(line.state() == "ggw");
  CHECK(line.leave_in_order(1).successor == &line.of(2));
  const Departure last = line.leave_in_order(2);
  CHECK(last.successor == nullptr);
  CHECK(last.granted.empty());
}

TEST_CASE("whoever gives up in a line leaves no gap", "[local_order]") {
  Line line{"WWWW"};
  CHECK(line.leave_in_order(2).granted.empty());
  CHECK(line.of(3).ahead == &line.of(1));
  CHECK(line.leave_in_order(1).granted.empty());
  const Departure first = line.leave_in_order(0);
  CHECK(first.granted == Members{&line.of(3)});
  CHECK(first.successor == &line.of(3));
}

TEST_CASE("readers in a row go on together", "[local_order]") {
  Line line{"WRRWR"};
  CHECK(line.state() == "gwwww");
  const Departure first = line.leave_in_order(0);
  CHECK(first.granted == Members{&line.of(1), &line.of(2)});
  CHECK(first.successor == &line.of(1));
  CHECK(line.state() == "gggww");
}

TEST_CASE("a reader behind one who reads goes on at once", "[local_order]") {
  Line line{"RR"};
  CHECK(line.state() == "gg");
  line.add('W');
  line.add('R');
  CHECK(line.state() == "ggww");
}

TEST_CASE("a writer looks again when all who read in front have ended, in whatever order",
          "[local_order]") {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}}) {
    Line line{"RRRW"};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Departure end = line.leave_in_order(order[i]);
      const bool is_last = i + 1 == order.size();
      CHECK((end.look_again == Members{&line.of(3)}) == is_last);
      CHECK((line.of(3).ahead == nullptr) == is_last);
      CHECK(end.granted.empty());
    }
    CHECK_FALSE(line.of(3).granted);
  }
}

TEST_CASE("a reader that goes while an earlier one reads is shielded by that", "[local_order]") {
  Line line{"RRR"};
  CHECK(line.leave_in_order(1).successor == nullptr);
  CHECK(line.of(2).ahead == &line.of(0));
  CHECK(line.leave_in_order(0).successor == &line.of(2));
}

TEST_CASE("whoever gives up behind somebody else's contender leaves the next one to look again",
          "[local_order]") {
  LocalEntry first{ContenderKind::exclusive};
  LocalEntry second{ContenderKind::exclusive};
  CHECK(stand_behind(second, first).empty());
  CHECK(leave(first, true).look_again == Members{&second});
  CHECK_FALSE(second.granted);
}

TEST_CASE("whoever is lost passes nothing on, wherever it stands", "[local_order]") {
  Line line{"WWW"};
  const Departure waiting = leave(line.of(1), false);
  CHECK(waiting.look_again == Members{&line.of(2)});
  CHECK(line.of(2).ahead == nullptr);
  static_cast<void>(stand_behind(line.of(2), line.of(0)));
  const Departure holder = leave(line.of(0), false);
  CHECK(holder.successor == nullptr);
  CHECK(holder.granted.empty());
  CHECK(holder.look_again == Members{&line.of(2)});
}

TEST_CASE("a reader that reads behind one that is lost is still to be asked after",
          "[local_order]") {
  Line line{"RR"};
  const Departure lost = leave(line.of(0), false);
  CHECK(lost.successor == &line.of(1));
  CHECK(line.of(1).granted);
}

TEST_CASE(
    "a downgrade comes between its writer and whoever waits, and lets readers in only when the "
    "writer goes",
    "[local_order]") {
  Line line{"WRW"};
  LocalEntry reader{ContenderKind::shared};
  join_beside(reader, &line.of(0));
  CHECK(reader.granted);
  CHECK(line.of(1).ahead == &reader);
  CHECK(line.state() == "gww");

  // A reader that joins behind the downgraded one is not granted yet either.
  LocalEntry late{ContenderKind::shared};
  CHECK(stand_behind(late, reader).empty());
  static_cast<void>(leave(late, true));

  SECTION("the writer goes") {
    const Departure writer = line.leave_in_order(0);
    CHECK(writer.successor == &reader);
    CHECK(writer.granted == Members{&line.of(1)});
    CHECK(leave(reader, true).successor == &line.of(1));
    CHECK(line.leave_in_order(1).look_again == Members{&line.of(2)});
  }
  SECTION("the reader goes, and the writer writes on") {
    const Departure end = leave(reader, true);
    CHECK(end.granted.empty());
    CHECK(line.of(1).ahead == &line.of(0));
    CHECK(line.leave_in_order(0).granted == Members{&line.of(1)});
  }
  SECTION("the writer is lost") {
    const Departure lost = leave(line.of(0), false);
    CHECK(lost.granted.empty());
    CHECK(lost.successor == &reader);
    CHECK(line.state() == "gww");
    // A contender behind the lost writer would get no notice when the writer's node is deleted.
    CHECK(lost.look_again == Members{&line.of(1)});
    CHECK(stand_behind(line.of(1), reader).empty());
    CHECK(line.of(1).ahead == nullptr);
  }
}

TEST_CASE("two that read beside one writer go on together when it goes", "[local_order]") {
  Line line{"WR"};
  LocalEntry first{ContenderKind::shared};
  LocalEntry second{ContenderKind::shared};
  join_beside(first, &line.of(0));
  join_beside(second, &line.of(0));
  CHECK(first.ahead == &second);
  CHECK(line.leave_in_order(0).granted == Members{&line.of(1)});
  CHECK_FALSE(first.beside);
}

TEST_CASE("nobody stands behind a reader whose writer was lost before it came", "[local_order]") {
  LocalEntry reader{ContenderKind::shared};
  LocalEntry next{ContenderKind::shared};
  join_beside(reader, nullptr);
  CHECK(stand_behind(next, reader).empty());
  CHECK(next.ahead == nullptr);
  CHECK_FALSE(next.granted);
}

TEST_CASE("as many readers as anybody has go on at once", "[local_order]") {
  Line line{"W" + std::string(100'000, 'R')};
  CHECK(line.leave_in_order(0).granted.size() == 100'000);
}

TEST_CASE("of two right behind one, as an operator's deletion makes them, one has its place",
          "[local_order]") {
  LocalEntry first{ContenderKind::exclusive};
  LocalEntry deleted{ContenderKind::exclusive};
  LocalEntry second{ContenderKind::exclusive};
  static_cast<void>(grant(first));
  CHECK(stand_behind(deleted, first).empty());
  CHECK(stand_behind(second, first).empty());
  const Departure end = leave(first, true);
  CHECK(end.successor == &deleted);
  CHECK(end.granted == Members{&deleted});
  CHECK(end.look_again == Members{&second});
}

TEST_CASE("a member that a later listing shows elsewhere leaves where it stood", "[local_order]") {
  Line line{"WW"};
  LocalEntry other{ContenderKind::exclusive};
  CHECK(stand_behind(line.of(1), other).empty());
  CHECK(line.of(0).behind.empty());
  CHECK(line.leave_in_order(0).successor == nullptr);
  CHECK_FALSE(line.of(1).granted);
}

}  // namespace
}  // namespace custodian::recipes_detail::local_order_test
