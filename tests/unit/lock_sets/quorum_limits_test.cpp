// The remaining time of a group, at the limits of what it needs.

#include "lock_sets/quorum_rule.hpp"
#include "support/catch.hpp"

namespace custodian::tests::quorum_limits_test {
namespace {

using namespace recipes_detail;
using namespace std::chrono_literals;

TEST_CASE("a group that needs no lease, or more than it has, has no time left") {
  CHECK(remaining_of({3s, 2s, 1s}, 3) == 1s);
  CHECK(remaining_of({3s, 2s, 1s}, 0) == 0s);
  CHECK(remaining_of({3s, 2s, 1s}, 4) == 0s);
}

}  // namespace
}  // namespace custodian::tests::quorum_limits_test
