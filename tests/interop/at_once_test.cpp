#include "at_once.hpp"

#include "support/catch.hpp"

namespace custodian::tests::at_once_test {

using custodian::demo::Hold;
using custodian::tests::most_at_once;

namespace {

Hold hold(std::int64_t in, std::int64_t out) { return {.in = in, .out = out}; }

}  // namespace

TEST_CASE("holds one after another are one at once, also if one begins when the other ends") {
  CHECK(most_at_once({}) == 0);
  CHECK(most_at_once({hold(0, 10)}) == 1);
  CHECK(most_at_once({hold(20, 30), hold(0, 10), hold(10, 20)}) == 1);
}

TEST_CASE("holds that begin before others end are counted, in whatever order they are told") {
  CHECK(most_at_once({hold(0, 10), hold(9, 20)}) == 2);
  CHECK(most_at_once({hold(5, 6), hold(0, 10), hold(10, 12), hold(4, 7), hold(8, 9)}) == 3);
  CHECK(most_at_once({hold(0, 5), hold(0, 5), hold(0, 5), hold(5, 9), hold(5, 9)}) == 3);
  CHECK(most_at_once({hold(5, 5), hold(0, 9)}) == 1);
}

}  // namespace custodian::tests::at_once_test
