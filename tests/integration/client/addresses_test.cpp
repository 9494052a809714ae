// Which server a client connects to, and what its log says about it.

#include <algorithm>
#include <atomic>
#include <future>
#include <list>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "support/test_client.hpp"

namespace custodian::tests::addresses_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("an outage is one warning of the loss, and one of the first address that fails") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  std::mutex mutex;
  std::vector<LogLevel> losses;
  std::vector<LogLevel> refusals;
  const auto count = [&](const std::vector<LogLevel>& levels, LogLevel level) {
    const std::lock_guard lock{mutex};
    return std::ranges::count(levels, level);
  };
  Server server;
  // The first attempt may still meet the dying server, which ends the connection.
  const std::string refused = "could not connect to " + server.connect_string() + ": ";
  const std::string ended = "the server at " + server.connect_string() + " ended the connection";
  ClientOptions options = options_for(server.connect_string());
  options.log = [&](LogLevel level, std::string_view line) {
    const std::lock_guard lock{mutex};
    if (line.find("ZOO_ERROR@") != std::string_view::npos) losses.push_back(level);
    if (line.find(refused) != std::string_view::npos ||
        line.find(ended) != std::string_view::npos) {
      refusals.push_back(level);
    }
  };
  Client client{options};
  client.wait_connected();
  for (const int outage : {1, 2}) {
    const auto quiet = count(refusals, LogLevel::debug);
    server.kill();
    CHECK(eventually([&] { return count(refusals, LogLevel::debug) >= quiet + 3; }));
    CHECK(count(refusals, LogLevel::warning) == outage);
    CHECK(count(losses, LogLevel::warning) == outage);
    server.start();
    client.wait_connected();
  }
  client.close();
}

TEST_CASE("servers may be named twice, or be dead") {
  TestClient client{"two-servers", "127.0.0.1:1," + connect_string() + "," + connect_string()};
  client->create("/a");
  CHECK(client->exists("/a"));
}

TEST_CASE("the only server of a list that is alive is found, wherever it stands, each time anew") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  const std::string alive = server.connect_string();
  const std::string port = alive.substr(alive.rfind(':'));
  std::atomic<int> attempts{0};
  std::list<Client> clients;
  for (int count = 1; count <= 6; ++count) {
    for (int position = 0; position < count; ++position) {
      std::string servers;
      for (int i = 0; i < count; ++i) {
        if (i > 0) servers += ',';
        servers += i == position ? alive : "127.0.0." + std::to_string(2 + i) + port;
      }
      ClientOptions options = options_for(servers);
      options.log = [&attempts](LogLevel, std::string_view line) {
        if (line.find("could not connect to ") != std::string_view::npos) ++attempts;
      };
      clients.emplace_back(options);
    }
  }
  for (int outage = 0; outage < 2; ++outage) {
    for (const Client& client : clients) client.wait_connected({.deadline = patience});
    server.kill();
    for (const Client& client : clients) {
      CHECK(eventually([&] { return !is_connected(client.connection_state()); }));
    }
    // The lists of the 21 clients have 91 addresses in all, and each address is tried three times.
    CHECK(eventually([&, earlier = attempts.load()] { return attempts >= earlier + 3 * 91; }));
    server.start();
  }
  for (const Client& client : clients) client.wait_connected({.deadline = patience});
}

TEST_CASE("a client follows its servers to other addresses") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  Client client{options_for("127.0.0.1:1")};
  // By this time the client has tried the first address.
  CHECK(error_of([&] { client.wait_connected({.deadline = 100ms}); }) == Errc::deadline_exceeded);
  client.set_servers(server.connect_string());
  client.wait_connected();
  CHECK(is_connected(client.connection_state()));
  CHECK(error_of([&] { client.set_servers("host/chroot"); }) == Errc::invalid_argument);
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
  Server server;
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
  // If one of these requests cannot be sent, the C client's queues are cleared by a connection to
  // no server. The log must mention neither this connection nor the placeholder that is its
  // address.
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
  CHECK(contains("could not connect to " + server.connect_string() + ": "));
  CHECK(contains("ZOO_"));
  CHECK_FALSE(contains(":ZOO_"));
  const std::lock_guard lock{mutex};
  for (std::string line : lines) {
    for (auto at = line.find(server.connect_string()); at != std::string::npos;
         at = line.find(server.connect_string())) {
      line.erase(at, server.connect_string().size());
    }
    CAPTURE(line);
    CHECK(line.find("127.0.0.1") == std::string::npos);
  }
}

}  // namespace
}  // namespace custodian::tests::addresses_test
