#include "custodian/client_options.hpp"

#include <chrono>
#include <string>

#include "base/connection_string.hpp"
#include "base/paths.hpp"
#include "client/argument_checks.hpp"
#include "client/lease_clock.hpp"
#include "custodian/error.hpp"

namespace custodian {

namespace {

[[noreturn]] void refuse_option(std::string_view detail) {
  throw Error{Errc::invalid_argument, "connect", "", detail};
}

void check_timeout(std::string_view argument, std::chrono::milliseconds value,
                   std::chrono::milliseconds least) {
  // The C client takes an int of milliseconds, which must not overflow.
  constexpr std::chrono::milliseconds most{std::chrono::hours{24}};
  if (value < least || value > most) {
    refuse_option(std::string{argument} + ": " + std::to_string(value.count()) +
                  " ms is not between " + std::to_string(least.count()) + " ms and 24 h");
  }
}

}  // namespace

void validate(const ClientOptions& options) {
  using namespace std::chrono_literals;
  static_cast<void>(detail::parse_connection_string("connect", options.servers));
  if (const auto fault = detail::namespace_fault(detail::absolute_namespace(options.name_space))) {
    refuse_option("name_space: " + *fault);
  }
  check_timeout("session_timeout", options.session_timeout, 100ms);
  check_timeout("touch_interval", options.touch_interval, 1ms);
  if (options.session_timeout < detail::LeaseClock::least_timeout(options.touch_interval)) {
    refuse_option(
        "session_timeout: " + std::to_string(options.session_timeout.count()) +
        " ms are less than three touch_intervals of " +
        std::to_string(options.touch_interval.count()) +
        " ms, too short to be told of a loss in time; where the servers' tickTime is shorter "
        "than 2 s, touch_interval may be three quarters of that");
  }
  check_timeout("connect_timeout", options.connect_timeout, 1ms);
  check_timeout("operation_timeout", options.operation_timeout, 1ms);
  if (options.max_request_size < 1024) {
    refuse_option("max_request_size: less than 1024 bytes serve for nothing");
  }
  detail::check_credentials("connect", options.credentials, options.max_request_size);
  if (options.credentials_provider && !options.credentials.empty()) {
    refuse_option("credentials: credentials_provider provides them");
  }
  if (options.member_port == 0) refuse_option("member_port: no server listens on port 0");
}

}  // namespace custodian
