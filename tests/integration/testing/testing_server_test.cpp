#include "custodian/testing/testing_server.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/io.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "server/server_installation.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests::testing_server_test {

using custodian::testing::ServerEndpoint;
using custodian::testing::TestingError;
using custodian::testing::TestingServer;
using custodian::testing::TestingServerOptions;
using custodian::testing::WireSession;
using namespace std::chrono_literals;

namespace {

constexpr std::int32_t ok = 0;
constexpr std::int32_t no_node = -101;
constexpr std::int32_t ephemeral = 1;

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience = 20s) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const TestingError& error) {
    return error.what();
  }
  return "";
}

bool accepts(const ServerEndpoint& endpoint) {
  try {
    custodian::testing::DeadlineSocket socket{endpoint, std::chrono::steady_clock::now() + 5s};
    return true;
  } catch (const TestingError&) {
    return false;
  }
}

// The processes whose working directory this is. These are a server's, whatever their name.
std::vector<pid_t> processes_in(const std::filesystem::path& directory) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::error_code ignored;
    const auto name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; }))
      continue;
    if (std::filesystem::read_symlink(entry.path() / "cwd", ignored)
            .string()
            .starts_with(directory.string())) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a server answers as soon as it is constructed", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  CHECK(server.is_running());
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(server.connect_string() == "127.0.0.1:" + std::to_string(server.port()));
}

TEST_CASE("a restarted server has its port and its data again", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  const auto port = server.port();
  REQUIRE(WireSession{server.endpoint(), 10s}.create("/kept", "data") == ok);

  server.stop();
  CHECK_FALSE(server.is_running());
  CHECK_FALSE(accepts(server.endpoint()));

  server.start();
  CHECK(server.port() == port);
  CHECK(WireSession{server.endpoint(), 10s}.exists("/kept") == ok);

  server.restart();
  CHECK(server.port() == port);
  CHECK(WireSession{server.endpoint(), 10s}.exists("/kept") == ok);
}

TEST_CASE("a killed server has its data again when it is started", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  REQUIRE(WireSession{server.endpoint(), 10s}.create("/kept", "data") == ok);
  server.kill();
  CHECK_FALSE(server.is_running());
  server.start();
  CHECK(WireSession{server.endpoint(), 10s}.exists("/kept") == ok);
}

TEST_CASE("stopping and killing a server that is gone does nothing", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  server.stop();
  server.stop();
  server.kill();
  CHECK_FALSE(server.is_running());
  CHECK_THROWS_AS(server.pause(), TestingError);
  CHECK_THROWS_AS(server.resume(), TestingError);
}

TEST_CASE("the port of a stopped server is given to nobody else", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  server.stop();
  std::vector<std::unique_ptr<TestingServer>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(std::make_unique<TestingServer>());
    CHECK(others.back()->port() != server.port());
  }
  server.start();
  CHECK(server.four_letter_word("ruok") == "imok");
}

TEST_CASE("a paused server accepts and does not answer until it is resumed", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  WireSession session{server.endpoint(), 60s};
  server.pause();
  // The kernel accepts the connection, but the paused process does not read from it.
  CHECK(accepts(server.endpoint()));
  custodian::testing::DeadlineSocket silent{server.endpoint(),
                                            std::chrono::steady_clock::now() + 300ms};
  silent.write("ruok");
  CHECK_THROWS_AS(silent.read_to_end(), TestingError);

  server.resume();
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(session.exists("/") == ok);
}

TEST_CASE("a paused server can be stopped, killed and restarted", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  server.pause();
  server.restart();
  CHECK(server.four_letter_word("ruok") == "imok");
  server.pause();
  server.kill();
  CHECK_FALSE(server.is_running());
}

TEST_CASE("a server tells its statistics and who watches what", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  CHECK(server.statistic("zk_watch_count") == 0);
  CHECK(server.statistics().at("zk_server_state") == "standalone");

  WireSession session{server.endpoint(), 10s};
  REQUIRE(session.create("/watched", "") == ok);
  REQUIRE(session.watch("/watched") == ok);
  REQUIRE(session.watch("/absent") == no_node);
  CHECK(server.statistic("zk_watch_count") == 2);
  auto watches = server.watches_by_session();
  REQUIRE(watches.size() == 1);
  auto& paths = watches.at(session.id());
  std::sort(paths.begin(), paths.end());
  CHECK(paths == std::vector<std::string>{"/absent", "/watched"});

  CHECK(message_of([&server] { static_cast<void>(server.statistic("zk_no_such")); }) ==
        server.connect_string() + " has no statistic zk_no_such");
}

TEST_CASE("a session expired by its twin takes its ephemeral nodes with it", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  WireSession session{server.endpoint(), 60s};
  REQUIRE(session.create("/mine", "", ephemeral) == ok);

  server.expire_session(session.id(), session.password());

  CHECK(WireSession{server.endpoint(), 10s}.exists("/mine") == no_node);
  CHECK(WireSession{server.endpoint(), session.id(), session.password()}.expired());
  CHECK_THROWS_AS(server.expire_session(session.id(), session.password()), TestingError);
}

TEST_CASE("a session is not expired with a wrong password", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server;
  WireSession session{server.endpoint(), 60s};
  REQUIRE(session.create("/mine", "", ephemeral) == ok);
  CHECK_THROWS_AS(server.expire_session(session.id(), std::string(16, 'x')), TestingError);
  CHECK_THROWS_AS(server.expire_session(session.id(), "short"), TestingError);
  CHECK(WireSession{server.endpoint(), 10s}.exists("/mine") == ok);
}

TEST_CASE("session timeouts are negotiated within the limits of the options", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.tick_time = 100ms;
  options.min_session_timeout = 300ms;
  options.max_session_timeout = 7s;
  TestingServer server{options};
  CHECK(WireSession{server.endpoint(), 1ms}.timeout() == 300ms);
  CHECK(WireSession{server.endpoint(), 4500ms}.timeout() == 4500ms);
  CHECK(WireSession{server.endpoint(), 60s}.timeout() == 7s);
}

TEST_CASE("a session that falls silent is ended after its timeout", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.tick_time = 100ms;
  options.min_session_timeout = 200ms;
  TestingServer server{options};
  {
    WireSession silent{server.endpoint(), 2s};
    REQUIRE(silent.create("/mine", "", ephemeral) == ok);
  }
  WireSession observer{server.endpoint(), 60s};
  CHECK(eventually([&observer] { return observer.exists("/mine") == no_node; }));
}

TEST_CASE("options and further lines reach the server", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.address = "::1";  // also tests an IPv6 literal
  options.jute_max_buffer = 4096;
  options.config_lines = {"minSessionTimeout=3000", "maxClientCnxns=7"};
  options.java_options = {"-Dzookeeper.extendedTypesEnabled=false"};
  TestingServer server{options};
  CHECK(server.connect_string() == "[::1]:" + std::to_string(server.port()));
  const auto configuration = server.four_letter_word("conf");
  CHECK(configuration.find("minSessionTimeout=3000") != std::string::npos);
  CHECK(configuration.find("maxClientCnxns=7") != std::string::npos);
  // The request is over the limit: the server drops the connection.
  WireSession session{server.endpoint(), 10s};
  CHECK(session.create("/small", std::string(3000, 'x')) == ok);
  CHECK_THROWS_AS(session.create("/large", std::string(5000, 'x')), TestingError);
}

TEST_CASE("several servers run side by side", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  std::vector<std::unique_ptr<TestingServer>> servers(3);
  std::vector<std::thread> starters;
  for (auto& server : servers)
    starters.emplace_back([&server] { server = std::make_unique<TestingServer>(); });
  for (auto& starter : starters) starter.join();

  REQUIRE(WireSession{servers[0]->endpoint(), 10s}.create("/only-here", "") == ok);
  CHECK(WireSession{servers[1]->endpoint(), 10s}.exists("/only-here") == no_node);
  CHECK(WireSession{servers[2]->endpoint(), 10s}.exists("/only-here") == no_node);
}

TEST_CASE("a server that cannot start says why, with the end of its log", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer first;
  TestingServerOptions options;
  options.port = first.port();
  const auto message = message_of([&options] { TestingServer second{options}; });
  CHECK(message.find(first.connect_string()) != std::string::npos);
  CHECK(message.find("exited with status") != std::string::npos);
  CHECK(message.find("Address already in use") != std::string::npos);
}

TEST_CASE("without Java the message says what to install", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.java = "/nonexistent/java";
  const auto message = message_of([&options] { TestingServer server{options}; });
  CHECK(message.find("No such file or directory") != std::string::npos);
  CHECK(message.find("default-jre-headless") != std::string::npos);
  CHECK(message.find("tools/setup") != std::string::npos);
}

TEST_CASE("without ZooKeeper's jar the message says what to install", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.classpath = "/nonexistent/zookeeper.jar";
  const auto message = message_of([&options] { TestingServer server{options}; });
  CHECK(message.find("ZooKeeperServerMain") != std::string::npos);
  CHECK(message.find("libzookeeper-java") != std::string::npos);
}

TEST_CASE("without Netty's jar files the message says what to install", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.connection_factory = custodian::testing::ConnectionFactory::netty;
  options.classpath = "/nonexistent/zookeeper.jar";
  const auto message = message_of([&options] { TestingServer server{options}; });
  CHECK(message.find("libnetty-java") != std::string::npos);
}

TEST_CASE("a class path that is given is taken as it is, for Netty, too", "[testing-server]") {
  TestingServerOptions options;
  options.classpath = "/opt/zookeeper/lib/*";
  for (const auto factory :
       {custodian::testing::ConnectionFactory::nio, custodian::testing::ConnectionFactory::netty}) {
    options.connection_factory = factory;
    const auto command = custodian::testing::server_command(options);
    CHECK(std::ranges::count(command, options.classpath) == 1);
  }
}

TEST_CASE("without the guardian the message names it", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServerOptions options;
  options.guardian = "/nonexistent/guardian";
  CHECK(message_of([&options] { TestingServer server{options}; }) ==
        "cannot run the guardian /nonexistent/guardian: No such file or directory");
}

TEST_CASE("a destroyed server leaves neither process nor directory", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  std::filesystem::path directory;
  {
    TestingServer server;
    directory = server.directory();
    CHECK(std::filesystem::exists(directory / "zoo.cfg"));
    CHECK(processes_in(directory).size() == 2);
  }
  CHECK_FALSE(std::filesystem::exists(directory));
  CHECK(processes_in(directory).empty());
}

TEST_CASE("a killed test leaves neither process nor directory", "[testing-server]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  boost::process::ipstream output;
  boost::process::child owner{CUSTODIAN_SERVER_OWNER, boost::process::std_out > output};
  std::string directory;
  std::uint16_t port = 0;
  REQUIRE(output >> directory >> port);
  const ServerEndpoint endpoint{"127.0.0.1", port};
  // The thread that started the server has ended; the server has not.
  CHECK(custodian::testing::four_letter_word(endpoint, "ruok") == "imok");
  CHECK(processes_in(directory).size() == 2);

  ::kill(owner.id(), SIGKILL);
  owner.wait();

  CHECK(eventually([&directory] { return !std::filesystem::exists(directory); }));
  CHECK(eventually([&directory] { return processes_in(directory).empty(); }));
  CHECK_FALSE(accepts(endpoint));
}

TEST_CASE("a killed guardian takes the server with it and the destructor cleans up",
          "[testing-server]") {
  std::filesystem::path directory;
  {
    TestingServer server;
    directory = server.directory();
    // The guardian has the smaller process id: it is the server's parent.
    const auto processes = processes_in(directory);
    REQUIRE(processes.size() == 2);
    ::kill(*std::min_element(processes.begin(), processes.end()), SIGKILL);
    CHECK(eventually([&directory] { return processes_in(directory).empty(); }));
    CHECK_THROWS_AS(server.start(), TestingError);
  }
  CHECK_FALSE(std::filesystem::exists(directory));
}

}  // namespace custodian::tests::testing_server_test
