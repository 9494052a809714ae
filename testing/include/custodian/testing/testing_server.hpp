#pragma once

/// \file
/// A real ZooKeeper server for a test: a child process on a free port, with its data in a temporary
/// directory. Both are gone after the test, however the test ends.
///
/// \code
/// custodian::testing::TestingServer server;
/// custodian::Client client{server.connect_string()};
/// server.restart();  // or pause(), kill(), expire_session(id, password), ...
/// \endcode
///
/// Needs Linux, Java and ZooKeeper's jar files (Debian: default-jre-headless, libzookeeper-java).
/// Not for production: it does not force its log to the disk.
///
/// Threads: one thread at a time; but any thread may call the functions that query the server
/// (`statistics()` and the like). Lifetimes: the destructor kills the server and returns when
/// process and directory are gone. Several servers, in this process and in others, do not disturb
/// each other.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/client_options.hpp"
#include "custodian/testing/certificate_authority.hpp"
#include "custodian/testing/server_endpoint.hpp"

// The CMake target defines this macro for the header's users, and does not compile it into the
// library, so that an installation can be moved.
#ifndef CUSTODIAN_TESTING_GUARDIAN
/// The program that cleans up after a killed test: see `TestingServerOptions::guardian`.
#define CUSTODIAN_TESTING_GUARDIAN ""
#endif

namespace custodian::testing {

/// The server's connection factory (zoo.cfg: serverCnxnFactory).
enum class ConnectionFactory {
  nio,    ///< ZooKeeper's own, the servers' default
  netty,  ///< Netty's, which servers need for TLS; see `TestingServerOptions::classpath`
};

/// The options of a server.
struct TestingServerOptions {
  /// The server's unit of time: a session ends up to one tick after its timeout. The default is
  /// shorter than ZooKeeper's 2 s, so that tests with short sessions are quick.
  std::chrono::milliseconds tick_time{500};
  /// The shortest session timeout that is granted.
  std::chrono::milliseconds min_session_timeout{1000};
  /// The longest session timeout that is granted.
  std::chrono::milliseconds max_session_timeout{60'000};

  /// Whether nodes with a TTL can be created.
  bool extended_types = true;
  /// How often the server looks for empty containers and for nodes past their TTL.
  std::chrono::milliseconds container_check_interval{1000};

  /// The largest size of a request in bytes; 0: the server's own limit, just under 1 MB.
  std::size_t jute_max_buffer = 0;
  /// The largest number of connections from one address; 0: no limit.
  unsigned max_client_connections = 0;
  /// With `netty`, a request from a connection that was cut may be applied after requests from the
  /// session's next connection.
  ConnectionFactory connection_factory = ConnectionFactory::nio;

  /// A second port, for clients with TLS; `port` stays plain. Sets `connection_factory` to `netty`.
  std::optional<ServerTls> tls{};

  /// The server's JAAS configuration, with which it authenticates clients by SASL: a section
  /// `Server` with the users of DIGEST-MD5, or with a keytab for Kerberos. Empty: none.
  std::string jaas{};

  /// Whether a change is on the disk before it is acknowledged. Without this, data survives a
  /// kill() but not a power failure.
  bool force_sync = false;
  /// The largest number of transactions from one snapshot to the next. For each snapshot the server
  /// draws a number between half of this one and all of it.
  unsigned snapshot_count = 100'000;

  /// The address on which the server listens.
  std::string address = "127.0.0.1";
  /// The port for clients; 0: a free one.
  std::uint16_t port = 0;

  /// The time limit of a start, which usually takes about half a second.
  std::chrono::milliseconds start_timeout{30'000};

  /// The server's number in an ensemble, whose other settings are in `config_lines`; 0: a server by
  /// itself. A `TestingCluster` sets it. A member serves only together with others, so neither the
  /// constructor nor start() waits until it answers.
  unsigned ensemble_member = 0;

  /// Further lines of zoo.cfg. They come last, and override the others.
  std::vector<std::string> config_lines{};
  /// Further arguments of the Java machine, such as "-Dzookeeper.skipACL=yes". They come last, and
  /// override the others.
  std::vector<std::string> java_options{};

  /// The Java program. Empty: the environment's CUSTODIAN_JAVA, else "java" in PATH.
  std::string java{};
  /// ZooKeeper's class path. Empty: the environment's CUSTODIAN_ZOOKEEPER_CLASSPATH, else Debian's
  /// /usr/share/java/zookeeper.jar, with Netty's jar files if they are needed. Your own class path
  /// must include Netty's jar files itself, as /opt/zookeeper/lib/* does.
  std::string classpath{};
  /// The program that cleans up after a killed test. The environment's CUSTODIAN_TESTING_GUARDIAN
  /// overrides this option. Empty: the program in the directory for which the library was
  /// configured, which is right unless the installation was moved.
  std::string guardian = CUSTODIAN_TESTING_GUARDIAN;
};

/// A real ZooKeeper server for a test.
/// \copydetails custodian/testing/testing_server.hpp
class TestingServer {
 public:
  /// Starts a server and waits until it answers, if it serves alone. Throws `TestingError` with the
  /// end of the server's log if it does not answer, and with what to install if Java or ZooKeeper
  /// is missing.
  explicit TestingServer(TestingServerOptions options = {});
  ~TestingServer();
  TestingServer(const TestingServer&) = delete;
  TestingServer& operator=(const TestingServer&) = delete;

  /// The server's address; it stays the same from start to start.
  [[nodiscard]] const ServerEndpoint& endpoint() const;
  /// The port of endpoint().
  [[nodiscard]] std::uint16_t port() const;
  /// endpoint() as a connection string.
  [[nodiscard]] std::string connect_string() const;
  /// The address of the port for TLS; it stays the same from start to start. Throws `TestingError`
  /// without `TestingServerOptions::tls`.
  [[nodiscard]] const ServerEndpoint& secure_endpoint() const;
  /// Options of a client of this server: the server's address, a session timeout that it grants,
  /// and a touch interval that fits its tick, so that sessions may be as short as three touch
  /// intervals.
  [[nodiscard]] ClientOptions client_options() const;
  /// Makes the server end a client's session, as if the client had been silent for too long: leases
  /// are lost, ephemeral nodes are gone. Throws `TestingError` if the client has no session.
  void expire(const Client& client) const;
  /// The server's directory, with zoo.cfg, data/ and server.log.
  [[nodiscard]] const std::filesystem::path& directory() const;

  /// Starts the server again after `stop()` or `kill()`, with its data, and waits until it answers.
  void start();
  /// Ends the server with SIGTERM and waits until it is gone. Does nothing if it is not running.
  void stop();
  /// Ends the server with SIGKILL and waits until it is gone. Does nothing if it is not running.
  void kill();
  /// Calls stop(), which does nothing if the server is not running, and start().
  void restart();
  /// Freezes the process (SIGSTOP): connections stay open and nothing answers.
  void pause();
  /// Continues the process after pause() (SIGCONT).
  void resume();
  /// Whether the server's process exists; a paused process counts.
  [[nodiscard]] bool is_running() const;

  /// Calls custodian::testing::four_letter_word() for this server.
  [[nodiscard]] std::string four_letter_word(std::string_view word) const;
  /// Calls custodian::testing::statistics() for this server.
  [[nodiscard]] std::map<std::string, std::string> statistics() const;
  /// Calls custodian::testing::statistic() for this server.
  [[nodiscard]] std::int64_t statistic(const std::string& name) const;
  /// Calls custodian::testing::watches_by_session() for this server.
  [[nodiscard]] std::map<std::int64_t, std::vector<std::string>> watches_by_session() const;
  /// Calls custodian::testing::expire_session() for this server.
  void expire_session(std::int64_t session_id, std::string_view password) const;

  /// The last lines of the server's log: warnings and errors.
  [[nodiscard]] std::string log_tail(std::size_t lines = 20) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace custodian::testing
