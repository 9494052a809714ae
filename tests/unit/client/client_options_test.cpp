#include "custodian/client_options.hpp"

#include <string>

#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::client_options_test {
namespace {

using namespace std::chrono_literals;

ClientOptions good() {
  ClientOptions options;
  options.servers = "zk1:2181/app";
  return options;
}

/// Checks that the options are refused with this rule.
void refused(const ClientOptions& options, const std::string& rule) {
  CAPTURE(rule);
  check_refused(
      [&] {
        validate(options);
        return 0;
      },
      "connect", rule);
}

TEST_CASE("options: the defaults with a server are good") {
  CHECK_NOTHROW(validate(good()));
  ClientOptions options = good();
  options.servers = "";
  refused(options, "connection string must not be empty");
}

TEST_CASE("options: a namespace is a path, with its first slash or without") {
  ClientOptions options = good();
  for (const std::string name : {"", "/", "team", "/team/app"}) {
    options.name_space = name;
    CHECK_NOTHROW(validate(options));
  }
  options.name_space = "team/";
  refused(options, "name_space: must not end in '/', at byte 5");
}

TEST_CASE("options: each time has a least and a greatest value") {
  struct Case {
    std::string name;
    std::chrono::milliseconds ClientOptions::*time;
    std::chrono::milliseconds least;
  };
  for (const auto& [name, time, least] :
       std::vector<Case>{{"session_timeout", &ClientOptions::session_timeout, 100ms},
                         {"touch_interval", &ClientOptions::touch_interval, 1ms},
                         {"connect_timeout", &ClientOptions::connect_timeout, 1ms},
                         {"operation_timeout", &ClientOptions::operation_timeout, 1ms}}) {
    ClientOptions options = good();
    options.touch_interval = 1ms;
    const auto rule = [option = name, lowest = least](std::chrono::milliseconds value) {
      return option + ": " + std::to_string(value.count()) + " ms is not between " +
             std::to_string(lowest.count()) + " ms and 24 h";
    };
    options.*time = least;
    CHECK_NOTHROW(validate(options));
    options.*time = least - 1ms;
    refused(options, rule(least - 1ms));
    options.*time = 24h + 1ms;
    refused(options, rule(24h + 1ms));
    options.*time = -1ms;
    refused(options, rule(-1ms));
    if (time == &ClientOptions::touch_interval) continue;  // no session is that long
    options.*time = 24h;
    CHECK_NOTHROW(validate(options));
  }
}

TEST_CASE("options: a session is three touch intervals long, at the least") {
  ClientOptions options = good();
  options.session_timeout = 3000ms;
  options.touch_interval = 1000ms;
  CHECK_NOTHROW(validate(options));
  options.touch_interval = 1001ms;
  refused(
      options,
      "session_timeout: 3000 ms are less than three touch_intervals of 1001 ms, too short to be "
      "told of a loss in time; where the servers' tickTime is shorter than 2 s, touch_interval "
      "may be three quarters of that");
}

TEST_CASE("options: a request has room for a kilobyte, at the least") {
  ClientOptions options = good();
  options.max_request_size = 1024;
  CHECK_NOTHROW(validate(options));
  options.max_request_size = 1023;
  refused(options, "max_request_size: less than 1024 bytes serve for nothing");
}

TEST_CASE("options: credentials have a scheme, and fit into a request") {
  ClientOptions options = good();
  const auto credential = [&options](std::string scheme, std::string value) {
    options.credentials = {{"ip", ""}, {std::move(scheme), std::move(value)}};
  };
  credential("digest", "joe:secret");
  CHECK_NOTHROW(validate(options));
  credential("digest", ":");
  CHECK_NOTHROW(validate(options));
  credential("other", "no colon");
  CHECK_NOTHROW(validate(options));
  credential("", "joe:secret");
  refused(options, "credentials: a scheme is empty");
  credential("digest", "joe");
  refused(options, "credentials: a digest reads user:password");

  // The packet has the header (8), the type (4), and the lengths of scheme and value.
  options.max_request_size = 1024;
  const std::string scheme = "other";
  const std::size_t most = 1024 - 8 - 4 - 4 - scheme.size() - 4;
  credential(scheme, std::string(most, 'x'));
  CHECK_NOTHROW(validate(options));
  credential(scheme, std::string(most + 1, 'x'));
  refused(options, "credentials: " + std::to_string(scheme.size() + most + 1) +
                       " bytes are more than the servers accept (1024 bytes a request; raise "
                       "their jute.maxbuffer and ClientOptions::max_request_size, or use less)");
}

TEST_CASE("options: credentials come from a provider or from the options, not from both") {
  ClientOptions options = good();
  options.credentials_provider = [] { return std::vector<ClientOptions::Credential>{}; };
  CHECK_NOTHROW(validate(options));
  options.credentials = {{"digest", "joe:secret"}};
  refused(options, "credentials: credentials_provider provides them");
  options.credentials_provider = nullptr;
  CHECK_NOTHROW(validate(options));
}

TEST_CASE("options: members listen on some port") {
  ClientOptions options = good();
  options.member_port = 0;
  refused(options, "member_port: no server listens on port 0");
  options.member_port = 1;
  CHECK_NOTHROW(validate(options));
}

}  // namespace
}  // namespace custodian::tests::client_options_test
