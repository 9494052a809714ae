// The program that measures failover runs. Times are not tested.

#include "programs/program.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::failover_test {
namespace {

TEST_CASE("a setting comes to a row: the next holder after a kill, and a loss after silence") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Result result = run(CUSTODIAN_FAILOVER, {"--runs", "1", "--session-timeout", "1125ms",
                                                 "--touch-interval", "375ms", "--tick", "500ms"});
  INFO(result.output);
  REQUIRE(result.status == 0);
  CHECK(contains(result.output, "Median of 1 runs"));
  CHECK(contains(result.output, "\n| 1.125s | 375ms | 500ms | "));
}

TEST_CASE("a setting that locks refuse is told as that") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Result result = run(CUSTODIAN_FAILOVER, {"--runs", "1", "--session-timeout", "1s",
                                                 "--touch-interval", "375ms", "--tick", "500ms"});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "custodian-failover: "));
}

}  // namespace
}  // namespace custodian::tests::failover_test
