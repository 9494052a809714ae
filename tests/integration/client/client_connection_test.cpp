#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/in_child.hpp"
#include "support/test_client.hpp"
#include "support/undisturbed.hpp"

namespace custodian::tests::client_connection_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Records every state that a client reports.
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
  Server server;
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

TEST_CASE("what is sent into a dying connection fails or is repeated, and nothing is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
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
  // The watch is not on the ephemeral node, whose deletion may be reported before the end of the
  // session.
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
  Server server;
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

/// The message of a call that ends by its deadline.
template <typename Function>
std::string message_in_time(Function function) {
  return message_of([&] { undisturbed(function); });
}

TEST_CASE("who finds no server in time is told which ones were looked for") {
  Client client{options_for("127.0.0.1:1,127.0.0.1:2/chroot")};
  const std::string both = "(no connection to 127.0.0.1:1,127.0.0.1:2): ";
  CHECK_THAT(message_in_time([&] { client.wait_connected({.deadline = 500ms}); }),
             Catch::Matchers::StartsWith("wait_connected " + both));
  CHECK_THAT(message_in_time([&] { static_cast<void>(client.get("/a", {.deadline = 500ms})); }),
             Catch::Matchers::StartsWith("get /a " + both));
  client.set_servers("127.0.0.1:3");
  CHECK_THAT(message_in_time([&] { client.wait_connected({.deadline = 500ms}); }),
             Catch::Matchers::StartsWith("wait_connected (no connection to 127.0.0.1:3): "));
}

TEST_CASE("operations that end before they begin leave nothing behind in the client") {
  Client client{options_for("127.0.0.1:1")};
  for (int i = 0; i < 100; ++i) {
    CHECK(error_of([&] { static_cast<void>(client.get("/a", {.deadline = -1s})); }) ==
          Errc::deadline_exceeded);
    CHECK(error_of([&] { static_cast<void>(client.get("/a", {.retry = RetryPolicy::none()})); }) ==
          Errc::not_connected);
  }
  client.close();  // goes through all pending operations
}

TEST_CASE("a write whose reply does not come by the deadline has an unknown outcome") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"unknown", server.connect_string()};
  client->create("/n");
  server.pause();
  CHECK(error_of([&] { client->set("/n", "x", {.deadline = 100ms}); }) ==
        Errc::deadline_exceeded_outcome_unknown);
  server.resume();
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
  Server server;
  std::optional<Client> client{std::in_place, options_for(server.connect_string())};
  client->wait_connected();
  server.pause();
  auto read = begun<GetResult>([&](auto done) { client->async_get("/", {}, done); });
  const auto began = std::chrono::steady_clock::now();
  client.reset();
  // This is only a bound: a close that blocked in the C library would take 4.5 s.
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
  // run_for() returns when the context has no work left.
  context.run_for(patience);
  CHECK(exists);
  CHECK(context.stopped());
}

TEST_CASE("an idle client sleeps: it computes nothing between its pings") {
  asio::io_context context;
  Client client{context.get_executor(), options_for(connect_string())};
  bool connected = false;
  client.async_wait_connected({}, [&](error_code error) {
    connected = !error;
    context.stop();
  });
  context.run_for(patience);
  REQUIRE(connected);
  context.restart();
  // A client that looked at its connection without waiting for it would run thousands.
  CHECK(context.run_for(500ms) < 100);
  client.close();
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

TEST_CASE("the log is not called once its client is destroyed, though a handle outlives it") {
  asio::io_context callbacks;  // runs when the client is gone
  int lines = 0;
  std::optional<Client> shared;
  {
    ClientOptions options = options_for(connect_string());
    options.callback_executor = callbacks.get_executor();
    options.log = [&](LogLevel, std::string_view) { ++lines; };
    const Client client{options};
    shared.emplace(client.share());
    REQUIRE(eventually([&] { return is_connected(client.connection_state()); }));
  }
  CHECK(callbacks.poll() > 0);
  CHECK(lines == 0);
}

TEST_CASE("a client's destruction waits for the log line that is being written") {
  std::promise<void> began;
  bool has_begun = false;
  bool has_ended = false;
  std::optional<Client> shared;
  {
    ClientOptions options = options_for(connect_string());
    options.log = [&](LogLevel, std::string_view) {
      if (std::exchange(has_begun, true)) return;
      began.set_value();
      std::this_thread::sleep_for(300ms);
      has_ended = true;
    };
    const Client client{options};
    shared.emplace(client.share());
    REQUIRE(began.get_future().wait_for(patience) == std::future_status::ready);
  }
  CHECK(has_ended);
}

TEST_CASE("in a forked child every call fails, and the parent's session goes on") {
  TestClient client{"fork"};
  client->create("/e", "", {.mode = CreateMode::ephemeral});
  CHECK(in_child([&] {
    const bool refused = error_of([&] { static_cast<void>(client->get("/e")); }) == Errc::forked &&
                         client->unusable() == Errc::forked;
    { const Client destroyed = std::move(*client); }
    return refused;
  }));
  CHECK(client->exists("/e"));
}

TEST_CASE("a forked child that runs its parent's context leaves the connection alone, and rests") {
  asio::io_context context;
  ClientOptions options = options_for(connect_string());
  options.session_timeout = 1200ms;  // so that a ping is due soon
  options.touch_interval = 375ms;
  Client client{context.get_executor(), options};
  const auto exists = [&] {
    bool found = false;
    client.async_exists("/", {}, [&](error_code, std::optional<Stat> stat) {
      found = stat.has_value();
      context.stop();
    });
    context.restart();
    context.run_for(patience);
    return found;
  };
  REQUIRE(exists());
  const SessionInfo before = client.session();
  context.notify_fork(asio::execution_context::fork_prepare);
  const pid_t child = ::fork();
  if (child == 0) {
    context.notify_fork(asio::execution_context::fork_child);
    context.restart();
    context.run_for(1500ms);
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const bool rested = used.ru_utime.tv_sec == 0 && used.ru_stime.tv_sec == 0;
    ::_exit(rested ? 0 : 1);
  }
  context.notify_fork(asio::execution_context::fork_parent);
  int status = -1;
  const auto has_ended = [&] { return ::waitpid(child, &status, WNOHANG) == child; };
  bool ended = false;
  for (const Deadline late{patience}; !ended && !late.passed(); ended = has_ended()) {
    context.restart();
    context.run_for(10ms);
  }
  REQUIRE(ended);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(exists());
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection == before.connection);
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

TEST_CASE("closing a client on a context that nobody runs does not wait for it") {
  asio::io_context context;
  {
    Client client{context.get_executor(), options_for(connect_string())};
    client.close();
    CHECK_FALSE(context.stopped());
  }
  // The client's operations end when a thread runs the context.
  context.run_for(patience);
  CHECK(context.stopped());
  {
    Client abandoned{context.get_executor(), options_for(connect_string())};
    abandoned.close();
  }
  // No thread runs the context again, and still nothing may leak.
}

}  // namespace
}  // namespace custodian::tests::client_connection_test
