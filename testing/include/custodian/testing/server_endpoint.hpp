#pragma once

/// \file
/// ServerEndpoint is the host and port of a ZooKeeper server, a `TestingServer` or any other; the
/// functions here query that server. They need only Boost, and not the client.
///
/// Each function that queries a server blocks, and throws `TestingError`, which names the server,
/// if there is no answer within ten seconds; expire_session() tries for 30 seconds. The time in
/// which a host name is resolved comes on top. Any thread may call the functions.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::testing {

/// The exception of the testing library. Its cause is the test or the test's machine, never the
/// code under test.
class TestingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a server listens.
struct ServerEndpoint {
  /// A name or an address, without brackets.
  std::string host;
  /// The port for clients.
  std::uint16_t port = 0;

  /// Whether both have the same text as their host, and the same port.
  friend bool operator==(const ServerEndpoint&, const ServerEndpoint&) = default;
};

/// "host:port", with brackets around an IPv6 address, as a connection string has it.
[[nodiscard]] std::string to_string(const ServerEndpoint& endpoint);

/// The parts of "host:port,host:port,...".
[[nodiscard]] std::vector<ServerEndpoint> parse_endpoints(std::string_view connect_string);

/// The answer to "ruok", "srvr", "mntr", "cons", ... The server must allow the word
/// (`4lw.commands.whitelist`).
[[nodiscard]] std::string four_letter_word(const ServerEndpoint& endpoint, std::string_view word);

/// The values of "mntr", by name, such as "zk_watch_count".
[[nodiscard]] std::map<std::string, std::string> statistics(const ServerEndpoint& endpoint);

/// One number of `statistics()`.
[[nodiscard]] std::int64_t statistic(const ServerEndpoint& endpoint, const std::string& name);

/// The watched paths of each session that has watches ("wchc").
[[nodiscard]] std::map<std::int64_t, std::vector<std::string>> watches_by_session(
    const ServerEndpoint& endpoint);

/// Ends a client's session at once, as the servers would after its timeout: a second connection
/// with the same session id and password closes the session. The client learns of the end when it
/// has connected again. The password has 16 bytes. Throws if the session does not exist (any more).
void expire_session(const ServerEndpoint& endpoint, std::int64_t session_id,
                    std::string_view password);

}  // namespace custodian::testing
