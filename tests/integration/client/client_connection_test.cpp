#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <future>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::client_connection_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Remembers every state that a client told of.
class States {
 public:
  explicit States(Client& client)
      : subscription_{client.on_connection_state([this](ConnectionState state) {
          const std::lock_guard lock{mutex_};
          seen_.push_back(state);
        })} {}

  [[nodiscard]] bool has(ConnectionState state) {
    const std::lock_guard lock{mutex_};
    return std::find(seen_.begin(), seen_.end(), state) != seen_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<ConnectionState> seen_;
  Subscription subscription_;
};

TEST_CASE("a session survives a restart of its server, with its nodes and watches") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  TestClient client{"restart", server.connect_string()};
  client->create("/e", "mine", {.mode = CreateMode::ephemeral});
  States states{*client};
  const std::int64_t session = client->session().id;
  auto [result, watch] = client->get_and_watch("/e");
  server.restart();
  CHECK(client->get("/e").data == "mine");
  CHECK(client->session().id == session);
  CHECK(eventually([&] { return states.has(ConnectionState::reconnected); }));
  CHECK(states.has(ConnectionState::suspended));
  client->set("/e", "again");
  CHECK(watch.wait() == WatchEventType::data_changed);
}

TEST_CASE("an outage is one warning of the C client's, however often it tries to connect") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  std::mutex mutex;
  std::vector<LogLevel> refusals;
  const auto told = [&](LogLevel level) {
    const std::lock_guard lock{mutex};
    return std::ranges::count(refusals, level);
  };
  testing::TestingServer server;
  ClientOptions options = options_for(server.connect_string());
  options.log = [&](LogLevel level, std::string_view line) {
    const std::lock_guard lock{mutex};
    if (line.find("ZOO_ERROR@") != std::string_view::npos) refusals.push_back(level);
  };
  Client client{options};
  client.wait_connected();
  for (const int outage : {1, 2}) {
    const auto quiet = told(LogLevel::debug);
    server.kill();
    CHECK(eventually([&] { return told(LogLevel::debug) >= quiet + 3; }));
    CHECK(told(LogLevel::warning) == outage);
    server.start();
    client.wait_connected();
  }
  client.close();
}

TEST_CASE("what is sent into a dying connection fails or is repeated, and nothing is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  TestClient client{"burst", server.connect_string()};
  client->create("/n", "0");
  for (int round = 0; round < 3; ++round) {
    server.kill();
    std::vector<std::future<std::tuple<error_code, GetResult>>> reads;
    std::vector<std::future<std::tuple<error_code, Stat>>> writes;
    for (int i = 0; i < 200; ++i) {
      reads.push_back(begun<GetResult>([&](auto done) { client->async_get("/n", {}, done); }));
      writes.push_back(begun<Stat>(
          [&](auto done) { client->async_set("/n", std::string(1000, 'x'), {}, done); }));
    }
    server.start();
    for (auto& read : reads) {
      REQUIRE(read.wait_for(patience) == std::future_status::ready);
      const auto [error, result] = read.get();
      CHECK_FALSE(error);
    }
    for (auto& write : writes) {
      REQUIRE(write.wait_for(patience) == std::future_status::ready);
      const auto [error, stat] = write.get();
      const bool known = !error || error == ErrorCondition::outcome_unknown;
      CHECK(known);
    }
  }
  CHECK(eventually([&] { return client->load().operations == 0; }));
}

TEST_CASE("an expired session is told, its nodes are gone, and another one serves") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient client{"expiry"};
  client->create("/e", "", {.mode = CreateMode::ephemeral});
  // Not of the ephemeral node: its deletion may be reported before the end of the session.
  client->create("/stays");
  auto [result, watch] = client->get_and_watch("/stays");
  States states{*client};
  const SessionInfo before = client->session();
  own_server().expire_session(before.id, before.password);
  CHECK(error_of([&, &lost = watch] { lost.wait(); }) == Errc::session_lost);
  CHECK_FALSE(client->exists("/e"));
  CHECK(client->session().id != before.id);
  CHECK(eventually([&] { return states.has(ConnectionState::lost); }));
  CHECK(eventually([&] { return states.has(ConnectionState::connected); }));
}

TEST_CASE("a server that is silent for less than the timeout costs no session") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  TestClient client{"pause", server.connect_string()};
  client->create("/e", "", {.mode = CreateMode::ephemeral});
  const std::int64_t session = client->session().id;
  server.pause();
  auto read = begun<GetResult>([&](auto done) { client->async_get("/e", {}, done); });
  CHECK(read.wait_for(2s) == std::future_status::timeout);
  server.resume();
  REQUIRE(read.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(read.get()));
  CHECK(client->session().id == session);
}

TEST_CASE("without a server an operation ends at its deadline, or at once if told not to wait") {
  Client client{options_for("127.0.0.1:1")};
  CHECK(error_of([&] { static_cast<void>(client.get("/a", {.deadline = 50ms})); }) ==
        Errc::deadline_exceeded);
  CHECK(error_of([&] { static_cast<void>(client.get("/a", {.retry = RetryPolicy::none()})); }) ==
        Errc::not_connected);
  CHECK(client.connection_state() == ConnectionState::connecting);
}

TEST_CASE("who finds no server in time is told which ones were looked for") {
  Client client{options_for("127.0.0.1:1,127.0.0.1:2/chroot")};
  const std::string both = "(no connection to 127.0.0.1:1,127.0.0.1:2): ";
  CHECK(message_of([&] {
          client.wait_connected({.deadline = 50ms});
        }).starts_with("wait_connected " + both));
  CHECK(message_of([&] {
          static_cast<void>(client.get("/a", {.deadline = 50ms}));
        }).starts_with("get /a " + both));
  client.set_servers("127.0.0.1:3");
  CHECK(message_of([&] {
          client.wait_connected({.deadline = 50ms});
        }).starts_with("wait_connected (no connection to 127.0.0.1:3): "));
}

TEST_CASE("operations that end before they begin leave nothing behind in the client") {
  Client client{options_for("127.0.0.1:1")};
  for (int i = 0; i < 100; ++i) {
    CHECK(error_of([&] { static_cast<void>(client.get("/a", {.deadline = -1s})); }) ==
          Errc::deadline_exceeded);
    CHECK(error_of([&] { static_cast<void>(client.get("/a", {.retry = RetryPolicy::none()})); }) ==
          Errc::not_connected);
  }
  client.close();  // looks at all that is under way
}

TEST_CASE("a write whose reply does not come by the deadline has an unknown outcome") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  TestClient client{"unknown", server.connect_string()};
  client->create("/n");
  server.pause();
  CHECK(error_of([&] { client->set("/n", "x", {.deadline = 100ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  server.resume();
}

TEST_CASE("servers may be named twice, be dead, or come later") {
  TestClient client{"two-servers", "127.0.0.1:1," + connect_string()};
  client->create("/a");
  CHECK(client->exists("/a"));
}

TEST_CASE("a client follows its servers to other addresses") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  Client client{options_for("127.0.0.1:1")};
  // Once it has tried: the C client takes a list that differs by ports alone for the same.
  CHECK(error_of([&] { client.wait_connected({.deadline = 100ms}); }) == Errc::deadline_exceeded);
  client.set_servers(server.connect_string());
  client.wait_connected();
  CHECK(is_connected(client.connection_state()));
  CHECK(error_of([&] { client.set_servers("host/chroot"); }) == Errc::invalid_argument);
}

TEST_CASE("closing frees the session's nodes at once, and later calls say that it is closed") {
  TestClient other{"close"};
  ClientOptions options = options_for(connect_string());
  options.name_space = other.root();
  std::optional<Client> client{std::in_place, options};
  client->create("/e", "", {.mode = CreateMode::ephemeral});
  SECTION("by close()") {
    client->close();
    CHECK(error_of([&] { static_cast<void>(client->get("/e")); }) == Errc::closed);
    CHECK(client->connection_state() == ConnectionState::closed);
    client->close();
  }
  SECTION("by the destructor") { client.reset(); }
  CHECK_FALSE(other->exists("/e"));
}

TEST_CASE("operations that are under way when the client closes are told so") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  std::optional<Client> client{std::in_place, options_for(server.connect_string())};
  client->wait_connected();
  server.pause();
  auto read = begun<GetResult>([&](auto done) { client->async_get("/", {}, done); });
  const auto began = std::chrono::steady_clock::now();
  client.reset();
  // A bound, not a measure: a close that blocked in the library would take 4.5 s.
  CHECK(std::chrono::steady_clock::now() - began < 4s);
  REQUIRE(read.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(read.get()) == Errc::closed);
  server.resume();
}

TEST_CASE("a client on a foreign executor lives and ends on it") {
  asio::io_context context;
  std::optional<Client> client{std::in_place, context.get_executor(),
                               options_for(connect_string())};
  bool exists = false;
  client->async_exists("/", {}, [&](error_code, std::optional<Stat> stat) {
    exists = stat.has_value();
    client.reset();
  });
  // Comes to an end by itself: nothing is left to do.
  context.run_for(patience);
  CHECK(exists);
  CHECK(context.stopped());
}

TEST_CASE("a client is destroyed in its own callback without waiting for itself") {
  auto client = std::make_shared<Client>(options_for(connect_string()));
  std::promise<void> gone;
  client->async_exists("/", {}, [&, last = client](error_code, auto) mutable {
    client.reset();
    last.reset();
    gone.set_value();
  });
  CHECK(gone.get_future().wait_for(patience) == std::future_status::ready);
}

TEST_CASE("what outlives its client is told that it is closed") {
  std::optional<Watch> watch;
  std::optional<Client> shared;
  {
    Client client{options_for(connect_string())};
    watch.emplace(client.get_and_watch("/").second);
    shared.emplace(client.share());
  }
  CHECK(error_of([&] { watch->wait(); }) == Errc::closed);
  CHECK(error_of([&] { static_cast<void>(shared->get("/")); }) == Errc::closed);
}

TEST_CASE("in a forked child every call fails, and the parent's session goes on") {
  TestClient client{"fork"};
  client->create("/e", "", {.mode = CreateMode::ephemeral});
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = error_of([&] { static_cast<void>(client->get("/e")); }) == Errc::forked &&
                         client->unusable() == Errc::forked;
    { const Client destroyed = std::move(*client); }
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(client->exists("/e"));
}

TEST_CASE("a child process inherits no connection") {
  TestClient client{"inherit"};
  client->wait_connected();
  FILE* list = ::popen("for fd in /proc/self/fd/*; do readlink $fd; done | grep -c socket:", "r");
  REQUIRE(list != nullptr);
  int sockets = -1;
  CHECK(std::fscanf(list, "%d", &sockets) == 1);
  ::pclose(list);
  CHECK(sockets == 0);
}

TEST_CASE("the log sink hears of the connection") {
  std::promise<std::string> line;
  std::once_flag once;
  ClientOptions options = options_for(connect_string());
  options.log = [&](LogLevel, std::string_view message) {
    std::call_once(once, [&] { line.set_value(std::string{message}); });
  };
  Client client{options};
  client.wait_connected();
  CHECK_FALSE(line.get_future().get().empty());
}

TEST_CASE("the log names the server and the session of a connection, and no address that is none") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  std::mutex mutex;
  std::vector<std::string> lines;
  const auto contains = [&](std::string_view text) {
    const std::lock_guard lock{mutex};
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  ClientOptions options = options_for(server.connect_string());
  options.log = [&](LogLevel, std::string_view line) {
    const std::lock_guard lock{mutex};
    lines.emplace_back(line);
  };
  Client client{options};
  client.wait_connected();
  std::ostringstream session;
  session << "session 0x" << std::hex << client.session().id;
  CHECK(eventually([&] {
    return contains("connection connected: server " + server.connect_string() + ", " +
                    session.str() + ", timeout ");
  }));
  CHECK(client.session().server == server.connect_string());
  // If the send of one of these requests fails, the library's queues are cleared by a detour, whose
  // address the log must not name.
  for (int round = 0; round < 3; ++round) {
    server.kill();
    for (int i = 0; i < 5; ++i) {
      client.async_exists("/", {.deadline = 1s}, [](error_code, std::optional<Stat>) {});
    }
    CHECK(eventually([&] { return !is_connected(client.connection_state()); }));
    server.start();
    client.wait_connected();
  }
  CHECK(eventually([&] { return contains("connection reconnected: server "); }));
  client.close();
  CHECK_FALSE(contains("255.255.255.255"));
  CHECK(contains("ZOO_"));
  CHECK_FALSE(contains(":ZOO_"));
}

TEST_CASE("closing a client on a context that nobody runs does not wait for it") {
  asio::io_context context;
  {
    Client client{context.get_executor(), options_for(connect_string())};
    client.close();
    CHECK_FALSE(context.stopped());
  }
  // Its operations end when a thread runs the context.
  context.run_for(patience);
  CHECK(context.stopped());
  {
    Client abandoned{context.get_executor(), options_for(connect_string())};
    abandoned.close();
  }
  // And nothing is left of it if no thread does.
}

}  // namespace
}  // namespace custodian::tests::client_connection_test
