// The names at a condition that are those of waiters, at the limits of valid names.

#include "conditions/condition_line.hpp"
#include "support/catch.hpp"

namespace custodian::tests::waiter_names_test {
namespace {

using recipes_detail::ConditionLine;
using recipes_detail::is_waiter;
using recipes_detail::signal_to;

TEST_CASE("the shortest name of a waiter has nothing in front", "[condition_line]") {
  CHECK(is_waiter("wait-0000000000"));
  CHECK(is_waiter("wait-9999999999"));
  CHECK_FALSE(is_waiter("ait-0000000000"));
  CHECK_FALSE(is_waiter("wait-000000000"));
  CHECK_FALSE(is_waiter(""));
  CHECK_FALSE(is_waiter("wait-000000000/"));
  CHECK_FALSE(is_waiter("wait-000000000:"));
}

TEST_CASE("a signal whose name has no waiter's in it is left alone", "[condition_line]") {
  const ConditionLine line{{"sig-", "sig-wait-12", "sig-sig-wait-0000000001"}};
  CHECK(line.left_signals().empty());
  CHECK(line.waiters().empty());
  const ConditionLine left{{signal_to("wait-0000000001")}};
  CHECK(left.left_signals() == std::vector<std::string>{"wait-0000000001"});
}

TEST_CASE("a waiter's signal is known as the waiter's own", "[condition_line]") {
  const ConditionLine line{{"wait-0000000002", "wait-0000000001", signal_to("wait-0000000002")}};
  REQUIRE(line.waiters().size() == 2);
  CHECK(line.waiters()[0].name == "wait-0000000001");
  CHECK_FALSE(line.waiters()[0].is_signalled);
  CHECK(line.waiters()[1].is_signalled);
  CHECK(line.unsignalled(0).empty());
  CHECK_FALSE(line.in_front_of("wait-0000000001"));
}

}  // namespace
}  // namespace custodian::tests::waiter_names_test
