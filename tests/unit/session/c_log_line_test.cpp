#include "session/c_log_line.hpp"

#include "support/catch.hpp"

namespace custodian::detail::c_log_line_test {
namespace {

constexpr auto placeholder = "127.0.0.1:34567";
constexpr auto server = "10.0.0.1:2181";

std::optional<CLogLine> parsed(std::string_view line) {
  return parse_c_log_line(line, placeholder, server);
}

TEST_CASE("a line of the C client's log loses its time, its process and its thread", "[log]") {
  const auto line = parsed(
      "2026-11-23 10:00:00,123:4711(0x7f2a10):ZOO_ERROR@handle_socket_error_msg@2370: Socket "
      "127.0.0.1:1 zk retcode=-4, errno=111(Connection refused)");
  REQUIRE(line);
  CHECK(line->message ==
        "ZOO_ERROR@handle_socket_error_msg@2370: Socket 127.0.0.1:1 zk retcode=-4, "
        "errno=111(Connection refused)");
  CHECK(line->level == LogLevel::warning);
}

TEST_CASE("what the C client calls a warning is information, and all else is for debugging",
          "[log]") {
  CHECK(parsed("t:1(0x1):ZOO_WARN@a@1: late ping")->level == LogLevel::info);
  CHECK(parsed("t:1(0x1):ZOO_INFO@a@1: ZOO_ERROR@b is no level")->level == LogLevel::debug);
  CHECK(parsed("t:1(0x1):ZOO_DEBUG@a@1: x")->level == LogLevel::debug);
}

TEST_CASE("a line of another shape stays as it is", "[log]") {
  CHECK(parsed("something else")->message == "something else");
  CHECK(parsed("")->message.empty());
}

TEST_CASE("a line about the placeholder names the server", "[log]") {
  const auto line = parsed(
      "t:1(0x1):ZOO_ERROR@handle_socket_error_msg@2370: Socket 127.0.0.1:34567 zk retcode=-4, "
      "errno=110(Connection timed out): connection to 127.0.0.1:34567 timed out");
  REQUIRE(line);
  CHECK(line->message ==
        "ZOO_ERROR@handle_socket_error_msg@2370: Socket 10.0.0.1:2181 zk retcode=-4, "
        "errno=110(Connection timed out): connection to 10.0.0.1:2181 timed out");
}

TEST_CASE("lines that come because the library does not dial are left out", "[log]") {
  CHECK_FALSE(parsed("t:1(0x1):ZOO_WARN@zookeeper_interest@2553: Exceeded deadline by 6005ms"));
  CHECK_FALSE(
      parsed("t:1(0x1):ZOO_WARN@zookeeper_interest@2597: Delaying connection after "
             "exhaustively trying all servers [127.0.0.1:34567]"));
}

}  // namespace
}  // namespace custodian::detail::c_log_line_test
