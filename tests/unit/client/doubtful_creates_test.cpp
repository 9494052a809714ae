#include "client/doubtful_creates.hpp"

#include "support/catch.hpp"

namespace custodian::tests::doubtful_creates_test {
namespace {

using namespace std::chrono_literals;
using detail::DoubtfulCreates;
using detail::protection_of;
using Look = DoubtfulCreates::Look;

const std::string first = "_c_00000000-0000-4000-8000-000000000001-";
const std::string second = "_c_00000000-0000-4000-8000-000000000002-";

struct Known {
  DoubtfulCreates creates;
  DoubtfulCreates::Time now{1h};

  void add(const std::string& parent, const std::string& protection,
           std::optional<std::string> kept = std::nullopt, DoubtfulCreates::Duration life = 10s) {
    creates.add(parent, protection, std::move(kept), now, now + life);
  }
  /// Moves the time to the next look that is due, and looks. Returns how long that took.
  DoubtfulCreates::Duration look(Look seen = Look::complete) {
    const auto before = now;
    now = creates.next().value();
    for (const std::string& parent : creates.due(now)) creates.looked(parent, seen, now, now);
    return now - before;
  }
};

TEST_CASE("a protection is what begins the name of a protected node, up to the user's part") {
  CHECK(protection_of(first + "lock-0000000001") == first);
  CHECK(protection_of(first) == first);
  CHECK_FALSE(protection_of(first.substr(0, first.size() - 1)));
  CHECK_FALSE(protection_of("lock-0000000001"));
  CHECK_FALSE(protection_of("x" + first + "lock-0000000001"));
  CHECK_FALSE(protection_of("_c_00000000-0000-4000-8000-000000000001+lock-0000000001"));
  CHECK_FALSE(protection_of(""));
}

TEST_CASE("what a doubtful create has left is a stray, and nothing else") {
  Known known;
  known.add("/a", first);
  const std::vector<std::string> names{first + "lock-0000000001", second + "lock-0000000002",
                                       "config", first + "lock-0000000003"};
  CHECK(known.creates.strays("/a", names) ==
        std::vector{"/a/" + first + "lock-0000000001", "/a/" + first + "lock-0000000003"});
  CHECK(known.creates.strays("/b", names).empty());
  CHECK(known.creates.strays("/a", {}).empty());
  known.add("/", second);
  CHECK(known.creates.strays("/", names) == std::vector{"/" + second + "lock-0000000002"});
}

TEST_CASE("the node that the caller of a doubtful create owns is no stray, until it is deleted") {
  Known known;
  const std::string kept = first + "lock-0000000001";
  known.add("/a", first, kept);
  const std::vector<std::string> names{kept, first + "lock-0000000002"};
  CHECK(known.creates.strays("/a", names) == std::vector{"/a/" + first + "lock-0000000002"});
  known.creates.disown("/a/" + first + "lock-0000000002");
  known.creates.disown("/b/" + kept);
  known.creates.disown("/a");
  CHECK(known.creates.strays("/a", names).size() == 1);
  known.creates.disown("/a/" + kept);
  CHECK(known.creates.strays("/a", names).size() == 2);
}

TEST_CASE("looks come soon after a doubt, then less often, and never seldom") {
  Known known;
  CHECK_FALSE(known.creates.next());
  known.add("/a", first);
  CHECK(known.look() == 50ms);
  CHECK(known.look() == 100ms);
  CHECK(known.look() == 200ms);
  CHECK(known.look() == 400ms);
  CHECK(known.look() == 500ms);
  CHECK(known.look() == 500ms);
  known.add("/a", second);
  CHECK(known.look() == 50ms);
  CHECK(known.look() == 100ms);
}

TEST_CASE("doubts that follow each other do not put a look off") {
  Known known;
  known.add("/a", first);
  known.now += 30ms;
  known.add("/a", second);
  CHECK(known.look() == 20ms);
}

TEST_CASE("each parent is looked at when its own time has come, once for all that is below it") {
  Known known;
  known.add("/a", first);
  known.add("/a", second);
  known.now += 10ms;
  known.add("/b", first);
  CHECK(known.creates.due(known.now).empty());
  known.now += 40ms;
  CHECK(known.creates.due(known.now) == std::vector<std::string>{"/a"});
  known.now += 10ms;
  CHECK(known.creates.due(known.now) == std::vector<std::string>{"/a", "/b"});
}

TEST_CASE("a doubtful create is forgotten by a look that shows what there is after its time") {
  Known known;
  known.add("/a", first, std::nullopt, 200ms);
  known.add("/a", second, std::nullopt, 100ms);
  known.look();
  known.look();  // at 150 ms
  CHECK(known.creates.strays("/a", {first, second}) == std::vector{"/a/" + first});
  known.look(Look::failed);  // at 350 ms
  CHECK_FALSE(known.creates.empty());
  known.look();
  CHECK(known.creates.empty());
  CHECK_FALSE(known.creates.next());
}

TEST_CASE("a look that began before the time of a doubtful create has passed does not end it") {
  Known known;
  known.add("/a", first, std::nullopt, 60ms);
  known.creates.looked("/a", Look::complete, known.now + 50ms, known.now + 70ms);
  CHECK_FALSE(known.creates.empty());
  known.creates.looked("/a", Look::complete, known.now + 60ms, known.now + 70ms);
  CHECK(known.creates.empty());
}

TEST_CASE("a create that is doubtful twice is remembered for as long as either wants") {
  Known known;
  known.add("/a", first, std::nullopt, 10s);
  known.add("/a", first, std::nullopt, 1s);
  known.creates.looked("/a", Look::complete, known.now + 9s, known.now + 9s);
  CHECK_FALSE(known.creates.empty());
  known.creates.looked("/a", Look::complete, known.now + 10s, known.now + 10s);
  CHECK(known.creates.empty());
}

TEST_CASE("a session that goes on beside another one may bring what was doubtful before, too") {
  Known known;
  known.add("/a", first, std::nullopt, 10s);
  known.add("/b", second, std::nullopt, 60s);
  known.creates.extend(known.now + 40s);
  for (const auto* parent : {"/a", "/b"}) {
    known.creates.looked(parent, Look::complete, known.now + 39s, known.now + 39s);
  }
  CHECK_FALSE(known.creates.strays("/a", {first + "x"}).empty());
  for (const auto* parent : {"/a", "/b"}) {
    known.creates.looked(parent, Look::complete, known.now + 40s, known.now + 40s);
  }
  CHECK(known.creates.strays("/a", {first + "x"}).empty());
  CHECK_FALSE(known.creates.strays("/b", {second + "x"}).empty());
}

TEST_CASE("what cannot be deleted is not looked for") {
  Known known;
  known.add("/a", first);
  known.add("/a", second);
  known.creates.forget("/a/" + first + "lock-0000000001");
  known.creates.forget("/a/" + first + "lock-0000000001");
  CHECK(known.creates.strays("/a", {first, second}) == std::vector{"/a/" + second});
  known.creates.forget("/a/" + second);
  CHECK(known.creates.empty());
}

TEST_CASE("a parent that is cleared while it is looked at stays forgotten") {
  Known known;
  known.add("/a", first);
  known.creates.clear();
  known.creates.looked("/a", Look::complete, known.now, known.now);
  CHECK(known.creates.empty());
}

}  // namespace
}  // namespace custodian::tests::doubtful_creates_test
