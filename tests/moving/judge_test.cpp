#include "moving/judge.hpp"

#include "support/catch.hpp"

namespace custodian::tests::moving::judge_test {
namespace {

using Violations = std::vector<std::string>;

constexpr Token first{.epoch = 1, .value = 90};
constexpr Token second{.epoch = 2, .value = 10};
constexpr Token third{.epoch = 2, .value = 20};

TEST_CASE("moving judge: holders one behind the other are no violation, also if one has died") {
  Judge judge;
  judge.begin("a", "/p", first, 10, "east");
  judge.landed("a", "/p", first, 11, 12);
  judge.wrote("a", "/p", first, "east", 100);
  judge.end("a", "/p", first, 20);
  judge.begin("b", "/p", second, 20, "west");
  judge.landed("b", "/p", second, 21, 22);
  judge.wrote("b", "/p", second, "west", 7);
  judge.died("b", 30);
  // The lines of a later holder may be read before those of an earlier one.
  judge.begin("d", "/p", Token{.epoch = 2, .value = 30}, 50, "west");
  judge.begin("c", "/p", third, 40, "west");
  judge.end("c", "/p", third, 45);
  judge.begin("d", "/q", first, 10, "east");
  CHECK(judge.violations() == Violations{});
  CHECK(judge.grants() == 5);
  CHECK(judge.writes() == 2);
  CHECK(judge.guarded_writes() == 2);
}

TEST_CASE("moving judge: two holders at a time are a violation, at one home or at two") {
  Judge judge;
  judge.begin("a", "/p", first, 10, "east");
  judge.begin("b", "/p", second, 15, "west");
  const Violations both{"two holders: a with 1:90 and b with 2:10 of /p"};
  CHECK(judge.violations() == both);
  judge.end("a", "/p", first, 16);
  CHECK(judge.violations() == both);
}

TEST_CASE("moving judge: a hold that outlasts the next one overlaps the one behind that, too") {
  Judge judge;
  judge.begin("a", "/p", first, 10, "east");
  judge.begin("b", "/p", second, 15, "west");
  judge.end("b", "/p", second, 16);
  judge.begin("c", "/p", third, 20, "west");
  CHECK(judge.violations().size() == 2);
}

TEST_CASE("moving judge: a token that does not grow is a violation") {
  Judge judge;
  judge.begin("a", "/p", second, 10, "west");
  judge.end("a", "/p", second, 11);
  judge.begin("b", "/p", first, 12, "east");
  CHECK(judge.violations() == Violations{"tokens do not grow: a with 2:10 and b with 1:90 of /p"});
}

TEST_CASE("moving judge: a write is stale if a later holder's was answered before it was sent") {
  Judge judge;
  judge.landed("b", "/p", second, 10, 20);
  judge.landed("a", "/p", first, 15, 25);  // it may have come first
  CHECK(judge.violations() == Violations{});
  judge.landed("a", "/p", first, 21, 26);
  CHECK(judge.violations() ==
        Violations{"a stale write accepted: a with 1:90 after b with 2:10 of /p"});
}

TEST_CASE("moving judge: guarded writes go by the order of their ensemble") {
  Judge judge;
  judge.wrote("b", "/p", second, "west", 101);
  judge.wrote("a", "/p", first, "east", 102);
  CHECK(judge.violations() == Violations{});
  judge.wrote("a", "/p", first, "west", 103);
  CHECK(judge.violations() ==
        Violations{"a stale guarded write: b with 2:10 and a with 1:90 of /p at west"});
  Judge shared;
  shared.wrote("a", "/p", first, "east", 101);
  shared.wrote("b", "/p", first, "east", 102);
  CHECK(shared.violations() ==
        Violations{"one token of two: a with 1:90 and b with 1:90 of /p at east"});
}

TEST_CASE("moving judge: a good write that is refused, and what is noted, are violations") {
  Judge judge;
  judge.refused_good("a", "/p", first);
  judge.note("a wait that does not end");
  CHECK(judge.violations() ==
        Violations{"a good write refused: a of /p with 1:90", "a wait that does not end"});
}

TEST_CASE("moving judge: a process holds what it has begun and has not ended") {
  Judge judge;
  judge.begin("a", "/p", first, 10, "east");
  judge.begin("b", "/q", first, 10, "east");
  CHECK(judge.holds_since_before("a", 11));
  CHECK_FALSE(judge.holds_since_before("a", 10));
  judge.end("a", "/p", first, 12);
  CHECK_FALSE(judge.holds_since_before("a", 20));
  CHECK(judge.holds_since_before("b", 20));
}

TEST_CASE("moving judge: the homes of paths are those of their last holds") {
  Judge judge;
  judge.begin("a", "/p", first, 10, "east");
  judge.end("a", "/p", first, 11);
  judge.begin("b", "/p", second, 30, "west");
  judge.begin("b", "/q", first, 20, "east");
  CHECK(judge.homes_since(0) == std::map<std::string, std::string>{{"/p", "west"}, {"/q", "east"}});
  CHECK(judge.homes_since(21) == std::map<std::string, std::string>{{"/p", "west"}});
}

}  // namespace
}  // namespace custodian::tests::moving::judge_test
