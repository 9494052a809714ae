#include "session/c_log_line.hpp"

#include "support/catch.hpp"

namespace custodian::detail::c_log_line_test {
namespace {

TEST_CASE("a line of the C client's log loses its time, its process and its thread", "[log]") {
  const auto line = parse_c_log_line(
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
  CHECK(parse_c_log_line("t:1(0x1):ZOO_WARN@a@1: late ping")->level == LogLevel::info);
  CHECK(parse_c_log_line("t:1(0x1):ZOO_INFO@a@1: ZOO_ERROR@b is no level")->level ==
        LogLevel::debug);
  CHECK(parse_c_log_line("t:1(0x1):ZOO_DEBUG@a@1: x")->level == LogLevel::debug);
}

TEST_CASE("a line of another shape stays as it is", "[log]") {
  CHECK(parse_c_log_line("something else")->message == "something else");
  CHECK(parse_c_log_line("")->message.empty());
}

TEST_CASE("a line of the address that is none is left out", "[log]") {
  CHECK_FALSE(parse_c_log_line(
      "t:1(0x1):ZOO_ERROR@handle_socket_error_msg@2370: Socket 255.255.255.255:9 zk retcode=-4, "
      "errno=101(Network is unreachable): failed to connect"));
}

}  // namespace
}  // namespace custodian::detail::c_log_line_test
