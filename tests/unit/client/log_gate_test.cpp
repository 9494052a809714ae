#include "client/log_gate.hpp"

#include <future>
#include <stdexcept>
#include <thread>

#include "support/catch.hpp"

namespace custodian::tests::log_gate_test {
namespace {

using detail::LogGate;
using namespace std::chrono_literals;

TEST_CASE("a log gate calls its sink until it is closed, whatever the sink throws") {
  int calls = 0;
  LogGate gate{[&](LogLevel, std::string_view line) {
    ++calls;
    if (line == "bad") throw std::runtime_error{"no room"};
  }};
  CHECK(gate.has_sink());
  CHECK_FALSE(LogGate{nullptr}.has_sink());
  gate.write(LogLevel::info, "good");
  gate.write(LogLevel::info, "bad");
  gate.write(LogLevel::info, "good");
  CHECK(calls == 3);
  gate.close(Deadline{30s});
  gate.write(LogLevel::info, "late");
  CHECK(calls == 3);
}

TEST_CASE("a log gate that is closed waits for the call under way") {
  std::promise<void> began;
  bool has_ended = false;
  LogGate gate{[&](LogLevel, std::string_view) {
    began.set_value();
    std::this_thread::sleep_for(200ms);
    has_ended = true;
  }};
  std::thread writer{[&] { gate.write(LogLevel::info, "a line"); }};
  REQUIRE(began.get_future().wait_for(30s) == std::future_status::ready);
  gate.close(Deadline{30s});
  CHECK(has_ended);
  writer.join();
}

TEST_CASE("a log gate that is closed waits for a call no longer than until the deadline") {
  std::promise<void> began;
  std::promise<void> closed;
  bool was_closed_meanwhile = false;
  LogGate gate{[&](LogLevel, std::string_view) {
    began.set_value();
    was_closed_meanwhile = closed.get_future().wait_for(30s) == std::future_status::ready;
  }};
  std::thread writer{[&] { gate.write(LogLevel::info, "a line"); }};
  REQUIRE(began.get_future().wait_for(30s) == std::future_status::ready);
  gate.close(Deadline{10ms});
  closed.set_value();
  writer.join();
  CHECK(was_closed_meanwhile);
}

}  // namespace
}  // namespace custodian::tests::log_gate_test
