#include "ordering/contender_order.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/catch.hpp"
#include "unit/ordering/contenders.hpp"

namespace custodian::tests::contender_order_test {

using namespace custodian::recipes_detail;
using namespace contenders;

TEST_CASE("a sequence near its end is told from one beyond it", "[contender_order]") {
  constexpr auto end = std::numeric_limits<Sequence>::max();
  CHECK(state_of(0) == SequenceState::usable);
  CHECK(state_of(2146435071) == SequenceState::usable);
  CHECK(state_of(2146435072) == SequenceState::near_end);
  CHECK(state_of(end - 1) == SequenceState::near_end);
  CHECK(state_of(end) == SequenceState::exhausted);
  CHECK(state_of(-1) == SequenceState::exhausted);
  CHECK(state_of(std::numeric_limits<Sequence>::min()) == SequenceState::exhausted);
}

TEST_CASE("a listing is in the order of the sequence, whatever the names", "[contender_order]") {
  const Listing listing{{b_lock + "0000000010", "lock-0000000009", "config", a_lock + "0000000011",
                         hex_a + "__lock__0000000008", "lock-", "lock--2147483648", "0001"},
                        mutex_rule};
  CHECK(names_of(listing) ==
        std::vector<std::string>{"lock--2147483648", hex_a + "__lock__0000000008",
                                 "lock-0000000009", b_lock + "0000000010", a_lock + "0000000011"});
  CHECK(std::ranges::equal(listing.foreign(), std::vector<std::string_view>{"config", "0001"}));
  CHECK(std::ranges::equal(listing.malformed(), std::vector<std::string_view>{"lock-"}));
}

TEST_CASE("of equal sequences a writer is first, then the lesser name", "[contender_order]") {
  const auto write = writer + "0000000005";
  const auto read = "_c_" + uuid_a + "-__READ__0000000005";
  const auto other_read = "_c_" + uuid_b + "-__READ__0000000005";
  const Listing listing{{other_read, read, write, reader + "0000000004"}, read_write_rule};
  CHECK(names_of(listing) ==
        std::vector<std::string>{reader + "0000000004", write, read, other_read});
}

TEST_CASE("a listing that moves keeps the names that were read from it", "[contender_order]") {
  // A short string is stored in the string object itself, so moving the string would leave a view
  // of it dangling.
  Listing first{{"lock-2", "lock-1", "x", "lock-"}, mutex_rule};
  const Listing second{std::move(first)};
  CHECK(names_of(second) == std::vector<std::string>{"lock-1", "lock-2"});
  CHECK(in_words(judge(Listing{{"lock-2", "lock-1"}, mutex_rule}, "lock-1")) == "held");
  Listing third{{}, latch_rule};
  third = Listing{{"lock-2", "lock-1"}, mutex_rule};
  CHECK(in_words(judge(third, "lock-2")) == "wait at 1 for lock-1");
}

TEST_CASE("a mutex waits for the nearest in front", "[contender_order]") {
  const auto one = a_lock + "0000000001";
  const auto two = "lock-0000000002";
  const auto three = hex_a + "__lock__0000000003";
  const std::vector<std::string> children{three, one, "config", two};
  CHECK(judged(children, mutex_rule, one) == "held");
  CHECK(judged(children, mutex_rule, two) == "wait at 1 for " + one);
  CHECK(judged(children, mutex_rule, three) == "wait at 2 for lock-0000000002");
}

TEST_CASE("order is by number, not by text", "[contender_order]") {
  CHECK(judged({"lock-10", "lock-9"}, mutex_rule, "lock-9") == "held");
  CHECK(judged({"lock-10", "lock-9"}, mutex_rule, "lock-10") == "wait at 1 for lock-9");
}

TEST_CASE("readers share, writers exclude all", "[contender_order]") {
  const auto read = [](int n) { return reader + "000000000" + std::to_string(n); };
  const auto write = [](int n) { return writer + "000000000" + std::to_string(n); };
  const std::vector<std::string> children{read(0), read(1),  write(2), read(3),
                                          read(4), write(5), read(6)};
  CHECK(judged(children, read_write_rule, read(0)) == "held");
  CHECK(judged(children, read_write_rule, read(1)) == "held");
  CHECK(judged(children, read_write_rule, write(2)) == "wait at 2 for " + read(1));
  CHECK(judged(children, read_write_rule, read(3)) == "wait at 1 for " + write(2));
  CHECK(judged(children, read_write_rule, read(4)) == "wait at 1 for " + write(2));
  CHECK(judged(children, read_write_rule, write(5)) == "wait at 5 for " + read(4));
  CHECK(judged(children, read_write_rule, read(6)) == "wait at 2 for " + write(5));
}

TEST_CASE("readers and writers of kazoo are counted among Curator's", "[contender_order]") {
  const auto kazoo_read = hex_a + "__rlock__0000000001";
  const auto kazoo_write = hex_a + "__lock__0000000002";
  const std::vector<std::string> children{reader + "0000000003", kazoo_write, kazoo_read,
                                          reader + "0000000000"};
  CHECK(judged(children, read_write_rule, kazoo_read) == "held");
  CHECK(judged(children, read_write_rule, kazoo_write) == "wait at 2 for " + kazoo_read);
  CHECK(judged(children, read_write_rule, reader + "0000000003") == "wait at 1 for " + kazoo_write);
}

TEST_CASE("a downgraded reader stands between its writer and the next one", "[contender_order]") {
  const auto write = writer + "0000000005";
  const auto read = "_c_" + uuid_a + "-__READ__0000000005";
  const auto next = "_c_" + uuid_b + "-__WRIT__0000000006";
  CHECK(judged({next, read, write}, read_write_rule, write) == "held");
  CHECK(judged({next, read, write}, read_write_rule, next) == "wait at 2 for " + read);
  CHECK(judged({next, read}, read_write_rule, read) == "held");
  CHECK(judged({next, read}, read_write_rule, next) == "wait at 1 for " + read);
}

TEST_CASE("a contender whose node is not listed is told so", "[contender_order]") {
  const auto one = a_lock + "0000000001";
  CHECK(judged({}, mutex_rule, one) == "missing");
  CHECK(judged({b_lock + "0000000001"}, mutex_rule, one) == "missing");
  CHECK(judged({a_lock + "0000000002"}, mutex_rule, one) == "missing");
  CHECK(judged({a_lock + "1"}, mutex_rule, one) == "missing");
  CHECK(judged({one}, mutex_rule, a_lock + "1") == "missing");
  CHECK(judged({one}, latch_rule, one) == "missing");
  CHECK(judged({one}, mutex_rule, "") == "missing");
  CHECK(judged({one, "lock-"}, mutex_rule, a_lock + "0000000002") == "missing");
}

TEST_CASE("nobody holds beyond the end of the sequence", "[contender_order]") {
  const auto last = a_lock + "2147483647";
  CHECK(judged({last}, mutex_rule, last) == "exhausted " + last);
  CHECK(judged({"lock--2147483648"}, mutex_rule, "lock--2147483648") ==
        "exhausted lock--2147483648");
  CHECK(judged({"lock--1", "lock-1"}, mutex_rule, "lock--1") == "exhausted lock--1");
  CHECK(judged({last, b_lock + "2147483647"}, mutex_rule, last) == "exhausted " + last);
}

TEST_CASE("an exhausted contender does not disturb those whose order is known",
          "[contender_order]") {
  const auto good = a_lock + "2147483646";
  CHECK(judged({b_lock + "2147483647", good}, mutex_rule, good) == "held");
  // All clients sort a negative number first, so the owner of such a node may believe that it holds
  // the lock.
  CHECK(judged({"lock--2147483648", good}, mutex_rule, good) == "wait at 1 for lock--2147483648");
}

TEST_CASE("nobody passes a contender whose place is unknown", "[contender_order]") {
  const auto one = a_lock + "0000000001";
  CHECK(judged({one, "lock-x"}, mutex_rule, one) == "malformed lock-x");
  CHECK(judged({one, "lock-0000000000", "lock-x"}, mutex_rule, one) == "malformed lock-x");
  CHECK(judged({"lock-y", one, "lock-x"}, mutex_rule, one) == "malformed lock-y");
  CHECK(judged({"lock-y", one, "lock-x"}, mutex_rule, "lock-x") == "malformed lock-x");
  CHECK(judged({reader + "0000000001", "__READ__x"}, read_write_rule, reader + "0000000001") ==
        "malformed __READ__x");
  CHECK(judged({"lock-y", a_lock + "2147483647"}, mutex_rule, a_lock + "2147483647") ==
        "exhausted " + a_lock + "2147483647");
}

TEST_CASE("judgements of random listings are what the rule says, read naively",
          "[contender_order]") {
  std::mt19937 engine{7};
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>{0, bound - 1}(engine);
  };
  for (int round = 0; round != 300; ++round) {
    std::vector<std::string> children;
    const auto count = below(30);
    for (std::size_t i = 0; i != count; ++i) {
      const auto number = std::to_string(below(20));
      children.push_back((below(2) == 0 ? "__READ__" : "__WRIT__") + number);
    }
    std::ranges::sort(children);
    children.erase(std::unique(children.begin(), children.end()), children.end());
    std::ranges::shuffle(children, engine);

    const auto place = [](const std::string& name) {
      return std::pair{std::stoi(name.substr(8)), name.starts_with("__READ__")};
    };
    for (const auto& mine : children) {
      std::size_t position = 0;
      std::string nearest;
      for (const auto& other : children) {
        const bool excludes = !other.starts_with("__READ__") || !mine.starts_with("__READ__");
        if (excludes && place(other) < place(mine)) {
          ++position;
          if (nearest.empty() || place(nearest) < place(other)) {
            nearest = other;
          }
        }
      }
      const auto expected =
          position == 0 ? "held" : "wait at " + std::to_string(position) + " for " + nearest;
      REQUIRE(judged(children, read_write_rule, mine) == expected);
    }
  }
}

TEST_CASE("who goes last lets the next one in, but for a writer before a writer",
          "[contender_order]") {
  const auto is_last = [](const std::vector<std::string>& children, const NamingRule& rule,
                          const std::string& mine) {
    const Listing listing{children, rule};
    return std::get<Wait>(judge(listing, mine)).is_last;
  };
  CHECK(is_last({a_lock + "1", b_lock + "2"}, mutex_rule, b_lock + "2"));
  CHECK_FALSE(is_last({a_lock + "1", b_lock + "2", b_lock + "3"}, mutex_rule, b_lock + "3"));
  CHECK(is_last({reader + "1", writer + "2"}, read_write_rule, writer + "2"));
  CHECK(is_last({writer + "1", reader + "2"}, read_write_rule, reader + "2"));
  CHECK(is_last({writer + "1", reader + "2", reader + "3"}, read_write_rule, reader + "3"));
  // The writer in front may be downgraded: its reader's node would then be in front, too.
  CHECK_FALSE(is_last({writer + "1", writer + "2"}, read_write_rule, writer + "2"));
  CHECK_FALSE(is_last({writer + "1", reader + "1", writer + "2"}, read_write_rule, writer + "2"));
}

TEST_CASE("of ten thousand each finds its place", "[contender_order]") {
  constexpr std::size_t count = 10'000;
  std::vector<std::string> children;
  for (std::size_t i = 0; i != count; ++i) {
    auto number = std::to_string(i);
    std::string child = a_lock;
    child.append(10 - number.size(), '0').append(number);
    children.push_back(std::move(child));
  }
  const auto in_order = children;
  std::ranges::shuffle(children, std::mt19937{3});
  const Listing listing{children, mutex_rule};
  REQUIRE(names_of(listing) == in_order);
  for (std::size_t i = 1; i != count; ++i) {
    const auto judgement = judge(listing, in_order[i]);
    const auto* wait = std::get_if<Wait>(&judgement);
    REQUIRE(wait != nullptr);
    REQUIRE(wait->position == i);
    REQUIRE(wait->nearest.name == in_order[i - 1]);
  }
}

}  // namespace custodian::tests::contender_order_test
