#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/testing/echo_server.hpp"
#include "integration/testing/proxied_line.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests::fault_proxy_limits_test {

using custodian::testing::Direction;
using custodian::testing::Ending;
using custodian::testing::FaultProxy;
using custodian::testing::LastReply;
using custodian::testing::TestingError;
using custodian::testing::WireSession;
using custodian::tests::a_while;
using custodian::tests::Line;
using custodian::tests::line_patience;
using custodian::tests::LineState;
using custodian::tests::ProxiedLine;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

TEST_CASE("a delay adds to the time and keeps the order", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.delay(Direction::to_server, 60ms);
  proxied.proxy.delay(Direction::to_client, 40ms);
  const auto start = Clock::now();
  for (int i = 0; i < 10; ++i) proxied.line.write(std::to_string(i));
  CHECK(proxied.line.read(10) == "0123456789");
  CHECK(Clock::now() - start >= 100ms);
}

TEST_CASE("what is delayed arrives at once when the network is healed", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.delay(Direction::both, 10min);
  proxied.line.write("late");
  CHECK(proxied.line.state(a_while) == LineState::silent);
  proxied.proxy.heal();
  CHECK(proxied.line.read(4) == "late");
}

TEST_CASE("a delay costs no bandwidth", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.delay(Direction::to_client, 200ms);
  const std::string much(2'000'000, 'x');
  const auto start = Clock::now();
  std::thread writer{[&proxied, &much] { proxied.line.write(much); }};
  CHECK(proxied.line.read(much.size()) == much);
  // If only 64 KiB were on the way in each round trip, this would take 6 s.
  CHECK(Clock::now() - start < 4s);
  writer.join();
}

TEST_CASE("a throttled connection carries so much and no more", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.throttle(Direction::to_server, 20'000);
  const std::string some(4'000, 'x');
  const auto start = Clock::now();
  proxied.line.write(some);
  CHECK(proxied.line.read(some.size()) == some);
  // The first bytes, as many as 20 ms allow, are not delayed.
  CHECK(Clock::now() - start >= 170ms);
  proxied.proxy.heal();
  CHECK(proxied.echoes(some));
}

TEST_CASE("a connection is cut after so many bytes", "[fault-proxy]") {
  ProxiedLine proxied;
  SECTION("on their way back") {
    proxied.proxy.cut_after_bytes(Direction::to_client, 7);
    proxied.line.write("0123");
    CHECK(proxied.line.read(4) == "0123");
    proxied.line.write("456789");
    CHECK(proxied.line.read(100) == "456");
    CHECK(proxied.line.state(line_patience) == LineState::ended);
  }
  SECTION("on their way to the server, by a reset") {
    proxied.proxy.cut_after_bytes(Direction::to_server, 3, Ending::reset);
    const auto before = proxied.proxy.bytes(Direction::to_server);
    proxied.line.write("456789");
    CHECK(proxied.line.state(line_patience) == LineState::reset);
    CHECK(proxied.proxy.bytes(Direction::to_server) == before + 3);
  }
  SECTION("none at all") {
    proxied.proxy.cut_after_bytes(Direction::to_client, 0);
    proxied.line.write("456789");
    CHECK(proxied.line.state(line_patience) == LineState::ended);
  }
  // The limit applied only to the connection before.
  Line next{proxied.proxy.endpoint()};
  next.write("0123456789");
  CHECK(next.read(10) == "0123456789");
}

TEST_CASE("a healed proxy has forgotten what it was to count", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.cut_after_bytes(Direction::both, 1);
  proxied.proxy.cut_after_replies(1);
  proxied.proxy.heal();
  CHECK(proxied.echoes("goes on"));
  CHECK_THROWS_AS(proxied.proxy.cut_after_replies(0), std::invalid_argument);
}

// -- ZooKeeper's packets --------------------------------------------------------------------------

TEST_CASE("a reply arrives, or is lost, and the connection is cut", "[fault-proxy]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const auto& server = custodian::tests::own_server();
  FaultProxy proxy{server.plain_endpoint()};
  const std::string path = "/" + proxy.connect_string();
  WireSession witness{server.plain_endpoint(), 10s};
  constexpr std::int32_t ok = 0;
  constexpr std::int32_t no_node = -101;
  constexpr std::int32_t ephemeral = 1;

  WireSession session{proxy.endpoint(), 10s};
  SECTION("the second of two") {
    proxy.cut_after_replies(2);
    CHECK(session.exists(path) == no_node);
    CHECK(session.create(path, "", ephemeral) == ok);
    CHECK_THROWS_AS(session.exists(path), TestingError);
  }
  SECTION("the server has done what it was asked") {
    proxy.cut_after_replies(2, LastReply::is_lost);
    CHECK(session.exists(path) == no_node);
    CHECK_THROWS_AS(session.create(path, "", ephemeral), TestingError);
  }
  CHECK(witness.exists(path) == ok);
  CHECK(proxy.connections() == 0);
  // The answer to the handshake counts as a reply.
  proxy.cut_after_replies(1, LastReply::is_lost);
  CHECK_THROWS_AS((WireSession{proxy.endpoint(), 10s}), TestingError);
  WireSession again{proxy.endpoint(), session.id(), session.password()};
  CHECK_FALSE(again.expired());
  again.close();
}

}  // namespace custodian::tests::fault_proxy_limits_test
