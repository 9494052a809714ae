#include "queue/recipe_view.hpp"

#include "support/catch.hpp"

namespace custodian::tests::recipe_view_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

const std::chrono::system_clock::time_point since{1'763'784'001s};
const std::string path = "/p";
const std::optional<Addresses> unknown{};

Participant owner(std::string name, std::string identity = "host/1") {
  return {.node = "/p/" + std::move(name),
          .identity = std::move(identity),
          .session = 0xabc,
          .since = since,
          .token = {0, 17}};
}

std::vector<std::string> lines(const InspectedRecipe& recipe) {
  return lines_of(RecipeView{recipe, path, unknown}, since + 65s);
}
std::string json(const InspectedRecipe& recipe) {
  return to_line(json_of(RecipeView{recipe, path, unknown}));
}

TEST_CASE("no recipe is no line, and null for programs") {
  CHECK(lines({}).empty());
  CHECK(json({}) == "null");
  CHECK(kind_of({}).empty());
}

TEST_CASE("a condition shows its waiters, who is signalled, and signals without a waiter") {
  const InspectedRecipe recipe{
      InspectedCondition{.waiters = {{owner("wait-1", ""), true}, {owner("wait-2"), false}},
                         .left_signals = {"/p/sig-wait-0"}}};
  const auto shown = lines(recipe);
  REQUIRE(shown.size() == 5);
  CHECK(shown[0] == "a condition: 2 wait, 1 of them signalled");
  CHECK(shown[1] == "#  STATE      IDENTITY  AGE   SESSION  SINCE                 NODE");
  CHECK(shown[2] == "1  signalled  -         1m5s  0xabc    2025-11-22 04:00:01Z  wait-1");
  CHECK(shown[3] == "2  waits      host/1    1m5s  0xabc    2025-11-22 04:00:01Z  wait-2");
  CHECK(shown[4] == "a signal without its waiter, for the next one: /p/sig-wait-0");
  CHECK(json(recipe).starts_with(
      R"({"kind":"InterProcessCondition","left_signals":["/p/sig-wait-0"],"clients":[{"state":"signalled","identity":"","session":"0xabc")"));
}

TEST_CASE("a double barrier shows whether a party is under way, and who is in") {
  InspectedDoubleBarrier barrier{.members = {{owner("a"), false}, {owner("b"), false}}};
  CHECK(lines(barrier)[0] == "a double barrier: 2 wait for a party");
  barrier.members[0].is_in = true;
  barrier.is_ready = true;
  CHECK(lines(barrier)[0] == "a double barrier: a party of 1 is under way, 1 waits");
  CHECK(lines(barrier)[2].starts_with("1  in "));
  barrier.members[0].is_in = false;
  barrier.is_stale = true;
  CHECK(lines(barrier)[0] ==
        "a double barrier: the ready node is stale, for nobody of its party is there; 2 wait");
  CHECK(json(barrier).find(R"("ready":true,"stale":true)") != std::string::npos);
}

TEST_CASE("a barrier, a latch and a rate limiter say how far they are") {
  CHECK(lines(InspectedPhases{.phase = 4, .arrivals = {owner("a")}})[0] ==
        "a barrier: 1 waits in phase 4");
  CHECK(lines(InspectedPhases{.left_over = 2})[0] ==
        "a barrier: 0 wait in phase 0; nodes of other phases, which count for nothing: 2");
  CHECK(lines(InspectedLatch{.expected = 3, .arrivals = 2}) ==
        std::vector<std::string>{"a latch: 2 of 3 have arrived"});
  CHECK(lines(InspectedLatch{.expected = 3, .arrivals = 3}) ==
        std::vector<std::string>{"a latch: 3 of 3 have arrived, it is open"});
  CHECK(json(InspectedLatch{.expected = 3, .arrivals = 2}) ==
        R"({"kind":"CountDownLatch","expected":3,"arrivals":2,"clients":[]})");
  CHECK(lines(InspectedRate{.taken = since, .cost = 1500ms, .credit = -100ms}) ==
        std::vector<std::string>{"a rate limiter: permits worth 1.5s were taken at "
                                 "2025-11-22 04:00:01Z; left before: -100ms"});
}

TEST_CASE("a value shows what it may be, and reaches no terminal as it is") {
  const auto head = [](std::string data, std::optional<std::int64_t> number = {}) {
    return lines(InspectedValue{
        .data = std::move(data), .version = 3, .written = since, .number = number})[0];
  };
  const std::string version = "version 3, written 2025-11-22 04:00:01Z)";
  CHECK(head(std::string("\0\0\0\x2a", 4), 42) == "a number: 42 (4 bytes, " + version);
  CHECK(head("host/1") == "a value, or a barrier that is set: host/1 (6 bytes, " + version);
  CHECK(head("3") == "a value, or a latch at which nobody has arrived: 3 (1 bytes, " + version);
  CHECK(head("\x1b[2J").find('\x1b') == std::string::npos);
  CHECK(head("") == "a node of witnesses, without data");
  const InspectedValue witnessed{.data = "\xff", .witnesses = {owner("w")}};
  CHECK(lines(witnessed).size() == 3);
  CHECK(json(witnessed).find(R"("data":null,"data_hex":"ff","number":null)") != std::string::npos);
  CHECK(json(witnessed).find(R"("state":"updates")") != std::string::npos);
  CHECK(sessions_in(witnessed) == std::vector<std::int64_t>{0xabc});
}

}  // namespace
}  // namespace custodian::tests::recipe_view_test
