#include "custodian/locks/with_lock.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::with_lock_try_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a call without time to wait has the lock though the servers answer slowly") {
  testing::FaultProxy proxy{client_endpoint()};
  TestClient client{"slow", proxy.connect_string()};
  client->create("/lock");
  proxy.delay(testing::Direction::both, 150ms);
  const auto call = with_lock(*client, "/lock", {.wait = 0s}, [] { return 7; });
  CHECK(call.under == Under::lock);
  CHECK(call.value == 7);
}

}  // namespace
}  // namespace custodian::tests::with_lock_try_test
