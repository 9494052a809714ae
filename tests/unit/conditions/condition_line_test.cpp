#include "conditions/condition_line.hpp"

#include "support/catch.hpp"

namespace custodian::tests::condition_line_test {
namespace {

using recipes_detail::ConditionLine;
using recipes_detail::is_waiter;
using recipes_detail::signal_to;

constexpr auto first = "_c_ff-wait-0000000003";
constexpr auto second = "_c_aa-wait-0000000007";
constexpr auto third = "_c_cc-wait-0000000010";

TEST_CASE("the waiters of a condition stand in the order of their numbers", "[condition_line]") {
  const ConditionLine line{{third, first, second, "foreign", "wait-12", "sig-"}};
  CHECK(line.unsignalled(5) == std::vector<std::string>{first, second, third});
  CHECK(line.left_signals().empty());
  CHECK(line.unsignalled(2) == std::vector<std::string>{first, second});
  CHECK_FALSE(line.passing());
}

TEST_CASE("a waiter watches the nearest one in front of it, signalled or not", "[condition_line]") {
  const ConditionLine line{{third, first, second, signal_to(second)}};
  CHECK(line.in_front_of(third) == second);
  CHECK(line.in_front_of(second) == first);
  CHECK_FALSE(line.in_front_of(first));
  // A server that lags may show the line without the waiter itself.
  CHECK(ConditionLine{{first}}.in_front_of(second) == first);
}

TEST_CASE("the next signal is for the first waiter that has none", "[condition_line]") {
  const ConditionLine line{{first, second, third, signal_to(first)}};
  CHECK(line.unsignalled(1) == std::vector<std::string>{second});
  CHECK(line.unsignalled(5) == std::vector<std::string>{second, third});
}

TEST_CASE("a signal whose waiter has gone is passed on, the oldest first", "[condition_line]") {
  const ConditionLine line{{third, signal_to(second), signal_to(first)}};
  CHECK(line.left_signals() == std::vector<std::string>{first, second});
  REQUIRE(line.passing());
  CHECK(line.passing()->from == first);
  CHECK(line.passing()->to == third);
  CHECK_FALSE(ConditionLine{{third, signal_to(third), signal_to(first)}}.passing());
  CHECK_FALSE(ConditionLine{{signal_to(first)}}.passing());
}

TEST_CASE("a waiter's name ends with its number", "[condition_line]") {
  CHECK(is_waiter(first));
  // The server's counter has overflowed in this name.
  CHECK_FALSE(is_waiter("_c_aa-wait--2147483648"));
  CHECK_FALSE(is_waiter("_c_aa-wait-00000000x7"));
  CHECK_FALSE(is_waiter("_c_aa-lock-0000000007"));
  CHECK_FALSE(is_waiter(signal_to(first)));
}

}  // namespace
}  // namespace custodian::tests::condition_line_test
