// The example that exports metrics, scraped as by a Prometheus server.

#include "program.hpp"
#include "support/catch.hpp"
#include "support/test_client.hpp"

#if defined CUSTODIAN_EXAMPLE_PROMETHEUS

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <csignal>

namespace custodian::tests::prometheus_test {
namespace {

/// A server's answer to GET /metrics, headers included; empty if there is no answer in time.
std::string scrape(const std::string& port) {
  namespace asio = boost::asio;
  using asio::ip::tcp;
  asio::io_context context;
  tcp::socket socket{context};
  std::string answer;
  const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  const tcp::endpoint server{asio::ip::address_v4::loopback(),
                             static_cast<std::uint16_t>(std::stoi(port))};
  socket.async_connect(server, [&](const error_code& failed) {
    if (failed) return;
    asio::async_write(socket, asio::buffer(request), [&](const error_code& unsent, std::size_t) {
      if (unsent) return;
      asio::async_read(socket, asio::dynamic_buffer(answer),  // until the connection ends
                       [](const error_code&, std::size_t) {});
    });
  });
  context.run_for(patience);
  return answer;
}

/// The value of a series, as the page has it.
std::string value(const std::string& page, const std::string& series) {
  const auto found = page.find("\n" + series + " ");
  if (found == std::string::npos) return "no such series";
  const auto begin = found + series.size() + 2;
  return page.substr(begin, page.find_first_of("\r\n", begin) - begin);
}

TEST_CASE("the example of metrics is scraped, and tells what it has done") {
  Program example{CUSTODIAN_EXAMPLE_PROMETHEUS, {to_string(server_endpoint()), "127.0.0.1:0"}};
  REQUIRE(example.says("metrics at port "));
  const std::string port = example.last_word();

  // The latest events may not be on the page yet.
  std::string page;
  const bool complete = eventually([&] {
    page = scrape(port);
    const auto held = [&](const std::string& lock) {
      return value(page,
                   R"(custodian_leases_held{lock=")" + lock + R"(",recipe="InterProcessMutex"})");
    };
    return held("orders") == "0" && held("invoices") == "0" &&
           value(page, R"(custodian_hold_seconds_count{lock="invoices",)"
                       R"(recipe="InterProcessMutex"})") == "1";
  });
  INFO(page);
  CHECK(complete);
  CHECK(contains(page, "HTTP/1.1 200 OK"));
  CHECK(contains(page, "# TYPE custodian_acquire_wait_seconds histogram"));
  const auto acquires = [&](const std::string& lock, const std::string& outcome) {
    return value(page, R"(custodian_acquires_total{lock=")" + lock + R"(",outcome=")" + outcome +
                           R"(",recipe="InterProcessMutex"})");
  };
  // There are two orders, each with four packers of five turns.
  CHECK(acquires("orders", "acquired") == "40");
  CHECK(acquires("orders", "declined") == "0");
  CHECK(acquires("invoices", "acquired") == "1");
  CHECK(acquires("invoices", "declined") == "1");
  for (const char* const histogram : {"custodian_acquire_wait_seconds", "custodian_hold_seconds"}) {
    CHECK(value(page, std::string{histogram} +
                          R"(_count{lock="orders",recipe="InterProcessMutex"})") == "40");
    CHECK(value(page, std::string{histogram} +
                          R"(_bucket{lock="orders",recipe="InterProcessMutex",le="+Inf"})") ==
          "40");
  }
  // The servers belong to the test alone, so the client is connected.
  const std::string connected = value(page, R"(custodian_connection_state{state="connected"})");
  const std::string reconnected = value(page, R"(custodian_connection_state{state="reconnected"})");
  CHECK(connected != reconnected);
  CHECK(value(page, "custodian_sessions_lost_total") != "no such series");

  example.signal(SIGTERM);
  const auto [status, output] = example.result();
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "somebody else writes the invoices"));
}

TEST_CASE("the example of metrics says how it is called, and what is wrong") {
  const Result without = run(CUSTODIAN_EXAMPLE_PROMETHEUS, {});
  CHECK(without.status == 2);
  CHECK(contains(without.output, "usage: "));
  const Result wrong = run(CUSTODIAN_EXAMPLE_PROMETHEUS, {"localhost:port", "127.0.0.1:0"});
  INFO(wrong.output);
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.output, "localhost:port"));
}

}  // namespace
}  // namespace custodian::tests::prometheus_test

#else

TEST_CASE("the example of metrics is scraped, and tells what it has done") {
  CUSTODIAN_SKIP("needs prometheus-cpp: prometheus-cpp-dev");
}

#endif
