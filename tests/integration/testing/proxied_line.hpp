#pragma once

#include <chrono>
#include <string>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/testing/echo_server.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// The time for which a test watches that nothing arrives.
inline constexpr std::chrono::milliseconds a_while{100};
inline constexpr std::chrono::seconds line_patience{20};

/// A connection through a proxy, which is known to work.
struct ProxiedLine {
  EchoServer server;
  testing::FaultProxy proxy{server.endpoint()};
  Line line{proxy.endpoint()};

  ProxiedLine() { REQUIRE(echoes("hello")); }
  bool echoes(const std::string& bytes) {
    line.write(bytes);
    return line.read(bytes.size()) == bytes;
  }
};

}  // namespace custodian::tests
