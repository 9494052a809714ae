// A run with CUSTODIAN_TEST_TLS=1 must not pass because its switch was not seen.

#include <cstdlib>

#include "support/over_tls.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::run_over_tls_test {
namespace {

using namespace std::chrono_literals;

/// Returns whether an operation on the tests' servers succeeds.
bool is_served(ClientOptions options, std::chrono::milliseconds patience_with_it) {
  options.operation_timeout = patience_with_it;
  Client client{std::move(options)};
  return !error_of([&] { static_cast<void>(client.exists("/zookeeper")); });
}

TEST_CASE("the tests' servers accept what the run's clients speak, and nothing else") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  // A second variable says that this run is over TLS, since the first one is what is tested.
  const bool must_be = std::getenv("CUSTODIAN_TEST_MUST_BE_OVER_TLS") != nullptr;
  CHECK((over_tls() || !must_be));
  CHECK(is_served(options_for(connect_string()), patience));
  if (over_tls()) CHECK_FALSE(is_served(plain_options_for(connect_string()), 3s));
}

}  // namespace
}  // namespace custodian::tests::run_over_tls_test
