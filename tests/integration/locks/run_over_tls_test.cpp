// A run with CUSTODIAN_TEST_TLS=1 must not pass because its switch was not seen.

#include <cstdlib>
#include <string_view>

#include "support/over_tls.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::run_over_tls_test {
namespace {

using namespace std::chrono_literals;

/// Whether an operation on the tests' servers comes to a result.
bool is_served(ClientOptions options) {
  options.connect_timeout = 1s;
  options.operation_timeout = 3s;
  Client client{std::move(options)};
  return !error_of([&] { static_cast<void>(client.exists("/zookeeper")); });
}

TEST_CASE("the tests' servers accept what the run's clients speak, and nothing else") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const char* const asked = std::getenv("CUSTODIAN_TEST_TLS");
  const bool tls = asked != nullptr && std::string_view{asked} == "1";
  CHECK(over_tls() == tls);
  CHECK(is_served(options_for(connect_string())));
  CHECK(is_served(plain_options_for(connect_string())) == !tls);
}

}  // namespace
}  // namespace custodian::tests::run_over_tls_test
