#include "custodian/testing/fault_proxy.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "integration/testing/echo_server.hpp"
#include "integration/testing/proxied_line.hpp"
#include "server/reserved_port.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fault_proxy_test {

using custodian::testing::Direction;
using custodian::testing::Ending;
using custodian::testing::FaultProxy;
using custodian::testing::FaultProxyOptions;
using custodian::testing::TestingError;
using custodian::tests::a_while;
using custodian::tests::EchoServer;
using custodian::tests::Line;
using custodian::tests::line_patience;
using custodian::tests::LineState;
using custodian::tests::ProxiedLine;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = Clock::now() + line_patience;
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

bool is_refused(const FaultProxy& proxy) {
  try {
    const Line line{proxy.endpoint()};
    return false;
  } catch (const boost::system::system_error& error) {
    return error.code() == boost::asio::error::connection_refused;
  }
}

}  // namespace

TEST_CASE("a proxy without faults forwards both ways and counts", "[fault-proxy]") {
  ProxiedLine proxied;
  CHECK(proxied.proxy.connections() == 1);
  CHECK(proxied.proxy.accepted() == 1);
  CHECK(proxied.proxy.bytes(Direction::to_server) == 5);
  CHECK(proxied.proxy.bytes(Direction::to_client) == 5);
  CHECK(proxied.proxy.bytes(Direction::both) == 10);

  const std::string much(3'000'000, 'x');
  std::thread writer{[&proxied, &much] { proxied.line.write(much); }};
  CHECK(proxied.line.read(much.size()) == much);
  writer.join();
}

TEST_CASE("the end of a connection is passed on, one direction at a time", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.line.write("last words");
  proxied.line.close_for_writing();
  CHECK(proxied.line.read(100) == "last words");
  CHECK(proxied.line.state(line_patience) == LineState::ended);
  CHECK(eventually([&proxied] { return proxied.proxy.connections() == 0; }));
}

TEST_CASE("a cut closes the connections that there are, and no new one", "[fault-proxy]") {
  ProxiedLine proxied;
  Line other{proxied.proxy.endpoint()};
  SECTION("in order") {
    proxied.proxy.cut();
    CHECK(proxied.line.state(line_patience) == LineState::ended);
    CHECK(other.state(line_patience) == LineState::ended);
  }
  SECTION("by a reset") {
    proxied.proxy.cut(Ending::reset);
    CHECK(proxied.line.state(line_patience) == LineState::reset);
    CHECK(other.state(line_patience) == LineState::reset);
  }
  CHECK(proxied.proxy.connections() == 0);
  Line next{proxied.proxy.endpoint()};
  next.write("hello");
  CHECK(next.read(5) == "hello");
}

TEST_CASE("new connections are refused until they are accepted again", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.refuse();
  proxied.proxy.refuse();
  CHECK(is_refused(proxied.proxy));
  CHECK(proxied.echoes("still there"));
  SECTION("by accept()") {
    proxied.proxy.accept();
    proxied.proxy.accept();
  }
  SECTION("by heal()") { proxied.proxy.heal(); }
  Line next{proxied.proxy.endpoint()};
  next.write("hello");
  CHECK(next.read(5) == "hello");
}

TEST_CASE("a port that refuses is given to nobody else", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.refuse();
  for (int i = 0; i < 100; ++i) {
    CHECK(custodian::testing::ReservedPort{"127.0.0.1"}.number() != proxied.proxy.endpoint().port);
  }
}

TEST_CASE("what is held back arrives when the network is healed", "[fault-proxy]") {
  ProxiedLine proxied;
  const auto direction = GENERATE(Direction::to_server, Direction::to_client, Direction::both);
  proxied.proxy.hold_back(direction);
  const auto before = proxied.proxy.bytes(Direction::both);
  proxied.line.write("patience");
  CHECK(proxied.line.state(a_while) == LineState::silent);
  CHECK(proxied.proxy.bytes(Direction::both) ==
        before + (direction == Direction::to_client ? 8 : 0));
  proxied.proxy.heal();
  CHECK(proxied.line.read(8) == "patience");
  CHECK(proxied.echoes("and goes on"));
}

TEST_CASE("the end of a connection is held back, too", "[fault-proxy]") {
  ProxiedLine proxied;
  proxied.proxy.hold_back(Direction::to_server);
  proxied.line.write("last words");
  proxied.line.close_for_writing();
  CHECK(proxied.line.state(a_while) == LineState::silent);
  proxied.proxy.heal();
  CHECK(proxied.line.read(100) == "last words");
  CHECK(proxied.line.state(line_patience) == LineState::ended);
}

TEST_CASE("a new connection is accepted and silent while the network is cut", "[fault-proxy]") {
  ProxiedLine proxied;
  SECTION("and comes to life when bytes were held back") {
    proxied.proxy.hold_back();
    Line next{proxied.proxy.endpoint()};
    next.write("hello");
    CHECK(next.state(a_while) == LineState::silent);
    proxied.proxy.heal();
    CHECK(next.read(5) == "hello");
  }
  SECTION("and is cut when they were lost") {
    proxied.proxy.black_hole();
    Line next{proxied.proxy.endpoint()};
    next.write("hello");
    CHECK(next.state(a_while) == LineState::silent);
    proxied.proxy.heal();
    CHECK(next.state(line_patience) == LineState::reset);
  }
  CHECK(proxied.echoes("the one that said nothing meanwhile goes on"));
}

TEST_CASE("a black hole swallows, and healing cuts who lost something", "[fault-proxy]") {
  ProxiedLine proxied;
  const auto direction = GENERATE(Direction::to_server, Direction::to_client);
  proxied.proxy.black_hole(direction);
  proxied.line.write("gone");
  CHECK(proxied.line.state(a_while) == LineState::silent);
  proxied.proxy.heal();
  CHECK(proxied.line.state(line_patience) == LineState::reset);
  Line next{proxied.proxy.endpoint()};
  next.write("hello");
  CHECK(next.read(5) == "hello");
}

TEST_CASE("new connections go to the new target", "[fault-proxy]") {
  ProxiedLine proxied;
  const custodian::testing::ReservedPort nobody{"127.0.0.1"};
  proxied.proxy.set_target({"127.0.0.1", nobody.number()});
  Line refused{proxied.proxy.endpoint()};
  CHECK(refused.state(line_patience) == LineState::reset);
  CHECK(proxied.echoes("stays"));

  const EchoServer other;
  proxied.proxy.set_target({"localhost", other.endpoint().port});
  Line next{proxied.proxy.endpoint()};
  next.write("hello");
  CHECK(next.read(5) == "hello");
  CHECK_THROWS_AS(proxied.proxy.set_target({"no-such-host.invalid", 1}), TestingError);
}

TEST_CASE("a target that is about to start is tried again", "[fault-proxy]") {
  const custodian::testing::ReservedPort port{"127.0.0.1"};
  FaultProxyOptions options;
  options.connect_patience = 20s;
  const FaultProxy proxy{{"127.0.0.1", port.number()}, options};
  Line line{proxy.endpoint()};
  line.write("early");
  CHECK(line.state(a_while) == LineState::silent);
  const EchoServer server{port.number()};
  CHECK(line.read(5) == "early");
}

TEST_CASE("what is sent to the server can be edited", "[fault-proxy]") {
  const EchoServer server;
  FaultProxyOptions options;
  options.edit_to_server = [] {
    return [sent = 0](std::string_view bytes) mutable {
      std::string edited{bytes};
      for (char& each : edited) each = ++sent % 3 == 0 ? '#' : each;
      return edited;
    };
  };
  const FaultProxy proxy{server.endpoint(), options};
  for (int i = 0; i < 2; ++i) {
    Line line{proxy.endpoint()};
    line.write("abcdefg");
    CHECK(line.read(7) == "ab#de#g");
  }
}

TEST_CASE("a proxy that is destroyed closes its connections", "[fault-proxy]") {
  const EchoServer server;
  std::optional<FaultProxy> proxy;
  proxy.emplace(server.endpoint());
  Line line{proxy->endpoint()};
  Line held{proxy->endpoint()};
  proxy->hold_back();
  held.write("never");
  proxy.reset();
  CHECK(line.state(line_patience) != LineState::silent);
  CHECK(held.state(line_patience) != LineState::silent);
}

TEST_CASE("any thread may change the faults while connections come and go", "[fault-proxy]") {
  const EchoServer server;
  FaultProxy proxy{server.endpoint()};
  const auto deadline = Clock::now() + 500ms;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&proxy, deadline] {
      while (Clock::now() < deadline) {
        proxy.hold_back();
        proxy.delay(Direction::both, 1ms);
        proxy.heal();
        proxy.cut_after_bytes(Direction::both, 100);
        proxy.cut(Ending::reset);
        static_cast<void>(proxy.connections());
      }
    });
    threads.emplace_back([&proxy, deadline] {
      while (Clock::now() < deadline) {
        try {
          Line line{proxy.endpoint()};
          line.write("hello");
          static_cast<void>(line.read(5, 50ms));
        } catch (const boost::system::system_error&) {
          // The other thread cut this connection.
        }
      }
    });
  }
  for (auto& each : threads) each.join();
  proxy.heal();
  Line line{proxy.endpoint()};
  line.write("hello");
  CHECK(line.read(5) == "hello");
}

}  // namespace custodian::tests::fault_proxy_test
