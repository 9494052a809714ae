#include "attendance.hpp"

#include "support/catch.hpp"

namespace custodian::tests::attendance_test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  void add(const std::string& library, const std::string& lines,
           std::optional<std::int64_t> killed = std::nullopt) {
    all.push_back({library, lines, killed});
  }
  [[nodiscard]] Attendance read() const { return {all, std::chrono::milliseconds{0}}; }

  std::vector<Attendee> all;
};

TEST_CASE("attendance: members that overlap are early nowhere") {
  Fixture fixture;
  fixture.add("ours", "comes 1\nin 5\nleaves 6\nout 9\ncomes 10\nin 15\n");
  fixture.add("ours", "comes 3\nin 7\nleaves 8\nout 9\ncomes 12\nin 15\n");
  const Attendance attendance = fixture.read();
  CHECK(attendance.visits("ours") == 4);
  CHECK(attendance.early("ours", 2).empty());
  CHECK(attendance.left_alone("ours").empty());
}

TEST_CASE("attendance: a member that is in before another one comes is early") {
  Fixture fixture;
  fixture.add("ours", "comes 1\nin 5\n");
  fixture.add("Curator", "comes 6\nin 7\n");
  const Attendance attendance = fixture.read();
  REQUIRE(attendance.early("ours", 2).size() == 1);
  CHECK(attendance.early("ours", 2).at(0).comes == 1);
  CHECK(attendance.early("Curator", 2).empty());
}

TEST_CASE("attendance: a member that has begun to leave is there no more, nor one that is dead") {
  Fixture fixture;
  fixture.add("ours", "comes 1\nin 2\nleaves 3\nout 9\n");
  fixture.add("ours", "comes 1\nin 2\n", 3);
  fixture.add("ours", "comes 5\nin 7\n");
  CHECK(fixture.read().early("ours", 2).size() == 1);
  CHECK(Attendance{fixture.all, 1ms}.early("ours", 2).empty());
}

TEST_CASE("attendance: a member that is out while another one is in has left too soon") {
  Fixture fixture;
  fixture.add("ours", "comes 1\nin 2\nleaves 3\nout 5\n");
  fixture.add("ours", "comes 1\nin 2\nleaves 6\nout 7\n");
  fixture.add("ours", "comes 1\nin 4\nleaves 8\nout 9\n");
  CHECK(fixture.read().left_alone("ours").size() == 2);
}

}  // namespace
}  // namespace custodian::tests::attendance_test
