// The servers of a suite: one of our own, started with the first test that wants it, or those that
// the environment names (CUSTODIAN_TEST_SERVERS=host:port,...).
#pragma once

#include <string>
#include <string_view>

#include "custodian/testing/testing_server.hpp"
#include "support/results.hpp"

namespace custodian::tests {

/// Whether the environment names the servers.
[[nodiscard]] bool servers_are_foreign();

/// For `Client`: all servers.
[[nodiscard]] std::string connect_string();

/// For statistics and the like: the first of them.
[[nodiscard]] testing::ServerEndpoint server_endpoint();

/// The suite's own server. A test that stops or pauses it leaves it running and answering. Only
/// after CUSTODIAN_REQUIRES_OWN_SERVER(). A test that needs other options has a `TestingServer` of
/// its own.
[[nodiscard]] testing::TestingServer& own_server();

/// A root path for one test, "/custodian-test/<random>/<name>": tests share a server, and runs of
/// them, too.
[[nodiscard]] std::string unique_root(std::string_view name);

}  // namespace custodian::tests

/// First line of a test that controls the server: skipped, and counted so, when the server is
/// foreign.
#define CUSTODIAN_REQUIRES_OWN_SERVER()                     \
  do {                                                      \
    if (::custodian::tests::servers_are_foreign())          \
      CUSTODIAN_SKIP("needs a server that it can control"); \
  } while (false)
