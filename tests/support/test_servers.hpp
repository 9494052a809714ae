// The servers of a suite: its own server, started for the first test that needs it, or those that
// the environment names (CUSTODIAN_TEST_SERVERS=host:port,...). With CUSTODIAN_TEST_TLS=1 the
// suite's own server and its clients use TLS (over_tls.hpp); named servers are used as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/testing/testing_server.hpp"
#include "support/over_tls.hpp"
#include "support/results.hpp"

namespace custodian::tests {

/// A server of a test, like `testing::TestingServer`, with addresses for clients whose options are
/// secured(). Its own functions use its plain port.
class Server : private testing::TestingServer {
 public:
  explicit Server(testing::TestingServerOptions options = {})
      : TestingServer{secured(std::move(options))} {}

  /// The address for clients.
  [[nodiscard]] const testing::ServerEndpoint& endpoint() const { return entry_of(*this); }
  [[nodiscard]] std::uint16_t port() const { return endpoint().port; }
  [[nodiscard]] std::string connect_string() const { return to_string(endpoint()); }
  /// The address without TLS.
  [[nodiscard]] const testing::ServerEndpoint& plain_endpoint() const {
    return TestingServer::endpoint();
  }
  /// The options of a server that replaces this one at the same ports.
  [[nodiscard]] testing::TestingServerOptions at_its_ports(
      testing::TestingServerOptions options = {}) const {
    options = secured(std::move(options));
    options.port = plain_endpoint().port;
    if (options.tls) options.tls->port = port();
    return options;
  }

  using TestingServer::directory;
  using TestingServer::expire;
  using TestingServer::expire_session;
  using TestingServer::four_letter_word;
  using TestingServer::is_running;
  using TestingServer::kill;
  using TestingServer::log_tail;
  using TestingServer::pause;
  using TestingServer::restart;
  using TestingServer::resume;
  using TestingServer::start;
  using TestingServer::statistic;
  using TestingServer::statistics;
  using TestingServer::stop;
  using TestingServer::watches_by_session;
};

/// Returns whether the environment names the servers.
[[nodiscard]] bool servers_are_foreign();

/// The connection string of all servers.
[[nodiscard]] std::string connect_string();

/// The first server's address for clients.
[[nodiscard]] testing::ServerEndpoint client_endpoint();

/// The first server's plain port, for statistics and anything else without TLS.
[[nodiscard]] testing::ServerEndpoint server_endpoint();

/// The suite's own server. A test may stop or pause it, but must leave it running and answering. A
/// test that needs other options has a `Server` of its own. To be called only after
/// CUSTODIAN_REQUIRES_OWN_SERVER().
[[nodiscard]] Server& own_server();

/// A root path for one test, "/custodian-test/<random>/<name>": tests, and simultaneous runs of
/// them, share a server.
[[nodiscard]] std::string unique_root(std::string_view name);

}  // namespace custodian::tests

/// Skips a test of plain TCP if the tests use TLS; its first line. The test counts as skipped.
#define CUSTODIAN_REQUIRES_PLAIN_TCP(reason)                                       \
  do {                                                                             \
    if (::custodian::tests::over_tls()) CUSTODIAN_SKIP("is not for TLS: " reason); \
  } while (false)

/// Skips a test that controls the server if the server is foreign; its first line. The test counts
/// as skipped.
#define CUSTODIAN_REQUIRES_OWN_SERVER()                     \
  do {                                                      \
    if (::custodian::tests::servers_are_foreign())          \
      CUSTODIAN_SKIP("needs a server that it can control"); \
  } while (false)
