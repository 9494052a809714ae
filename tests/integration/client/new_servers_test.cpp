/// \file
/// New servers without the old data, at the same address or at others: they refuse a client that
/// has seen more transactions than they have. And an outage of all servers, which costs no waiter
/// its place.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::new_servers_test {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds session_timeout{2};
/// This is more than the number of transactions that a new server has at the end of the test.
constexpr int many = 3'000;
/// The time limit for a client to move to a new server: one session timeout until it gives up its
/// session, and the rest for the connection, for Java, and for a busy machine.
constexpr std::chrono::seconds soon = patience;

/// A client with a short session, and the states of its connection so far.
class Observed {
 public:
  explicit Observed(const std::string& servers, std::chrono::milliseconds timeout = session_timeout)
      : client_{options(servers, timeout)},
        subscription_{client_.on_connection_state([this](ConnectionState state) {
          const std::lock_guard lock{mutex_};
          states_.push_back(state);
        })} {
    client_.wait_connected({.deadline = patience});
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed() = default;

  Client* operator->() { return &client_; }
  Client& operator*() { return client_; }

  [[nodiscard]] bool has(ConnectionState state) const {
    const std::lock_guard lock{mutex_};
    return std::ranges::find(states_, state) != states_.end();
  }
  /// Returns whether the second of these states came after the first, at once or later.
  [[nodiscard]] bool has_in_order(ConnectionState first, ConnectionState second) const {
    const std::lock_guard lock{mutex_};
    const auto at = std::ranges::find(states_, first);
    return std::find(at, states_.end(), second) != states_.end();
  }
  [[nodiscard]] bool has_warned_of(std::string_view words) const {
    const std::lock_guard lock{mutex_};
    return std::ranges::any_of(
        warnings_, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }

 private:
  ClientOptions options(const std::string& servers, std::chrono::milliseconds timeout) {
    ClientOptions options = options_for(servers);
    options.session_timeout = timeout;
    options.touch_interval = 375ms;
    options.log = [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock{mutex_};
      if (level == LogLevel::warning) warnings_.emplace_back(line);
    };
    return options;
  }

  mutable std::mutex mutex_;
  std::vector<ConnectionState> states_;
  std::vector<std::string> warnings_;
  Client client_;
  Subscription subscription_;
};

/// Makes the servers apply `many` transactions.
void advance(Client& client) {
  if (!client.exists("/advanced")) client.create("/advanced");
  std::vector<std::future<std::tuple<error_code, Stat>>> writes;
  writes.reserve(many);
  for (int i = 0; i < many; ++i) {
    writes.push_back(begun<Stat>([&](auto done) { client.async_set("/advanced", "x", {}, done); }));
  }
  for (auto& write : writes) {
    REQUIRE(write.wait_for(patience) == std::future_status::ready);
    REQUIRE_FALSE(std::get<0>(write.get()));
  }
}

/// Replaces this server by another one, without its data.
std::unique_ptr<Server> begun_anew(std::unique_ptr<Server> server) {
  testing::TestingServerOptions options = server->at_its_ports();
  server.reset();
  return std::make_unique<Server>(std::move(options));
}

/// An acquire that waits. Its lease is released as soon as it was checked.
class Waiter {
 public:
  Waiter(Client& client, const std::string& path, AcquireOptions options = {})
      : mutex_{client, path} {
    options.on_requeued = [requeued = requeued_] { ++*requeued; };
    outcome_ =
        begun<Lease>([&](auto done) { mutex_.async_acquire(std::move(options), std::move(done)); });
  }

  /// Returns whether the lock was acquired in time.
  [[nodiscard]] bool has_its_turn(std::chrono::milliseconds limit) {
    if (outcome_.wait_for(limit) != std::future_status::ready) return false;
    auto [error, lease] = outcome_.get();
    const bool is_held = !error && lease.state() == LeaseState::held;
    lease.release();
    return is_held;
  }
  [[nodiscard]] bool is_waiting() const {
    return outcome_.wait_for(0s) != std::future_status::ready;
  }
  [[nodiscard]] error_code error(std::chrono::milliseconds limit) {
    if (outcome_.wait_for(limit) != std::future_status::ready) return {};
    return std::get<0>(outcome_.get());
  }
  [[nodiscard]] int requeued() const { return *requeued_; }

 private:
  InterProcessMutex mutex_;
  /// The callback shares this counter, since it may outlive this object if a test fails.
  std::shared_ptr<std::atomic<int>> requeued_ = std::make_shared<std::atomic<int>>(0);
  std::future<std::tuple<error_code, Lease>> outcome_;
};

std::vector<std::string> nodes_in_line(const InterProcessMutex& mutex) {
  std::vector<std::string> nodes;
  for (const Participant& each : mutex.participants()) nodes.push_back(each.node);
  return nodes;
}

}  // namespace

TEST_CASE("a client without a lease comes to a server that was rebuilt from nothing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto server = std::make_unique<Server>();
  Observed idle{server->connect_string()};
  advance(*idle);
  const std::int64_t session = idle->session().id;
  server = begun_anew(std::move(server));
  CHECK(eventually(
      [&] { return idle.has_in_order(ConnectionState::lost, ConnectionState::connected); }, soon));
  REQUIRE(is_connected(idle->connection_state()));
  CHECK(idle->session().id != session);
  CHECK_FALSE(idle->exists("/advanced"));
  CHECK(idle.has_warned_of("giving the session up"));
}

TEST_CASE("an acquire that is begun while rebuilt servers refuse its client gets the lock") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto server = std::make_unique<Server>();
  Observed client{server->connect_string()};
  advance(*client);
  server = begun_anew(std::move(server));
  Waiter waiter{*client, "/lock"};
  CHECK(waiter.has_its_turn(soon));
}

TEST_CASE("waiters whose servers were rebuilt from nothing queue again, and have their turns") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto server = std::make_unique<Server>();
  Observed holding{server->connect_string()};
  Observed waiting{server->connect_string()};
  advance(*holding);
  InterProcessMutex mutex{*holding, "/lock"};
  Lease lease = mutex.acquire();
  Waiter first{*waiting, "/lock"};
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  server = begun_anew(std::move(server));
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }, soon));
  lease.release();
  CHECK(first.has_its_turn(soon));
  CHECK(first.requeued() >= 1);
}

TEST_CASE("a waiter that does not want to queue again ends when its servers were rebuilt") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  auto server = std::make_unique<Server>();
  Observed holding{server->connect_string()};
  Observed waiting{server->connect_string()};
  advance(*holding);
  InterProcessMutex mutex{*holding, "/lock"};
  Lease lease = mutex.acquire();
  Waiter failing{*waiting, "/lock", {.requeue = RequeuePolicy::fail}};
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  server = begun_anew(std::move(server));
  CHECK(failing.error(soon) == Errc::session_lost);
  lease.release();
}

TEST_CASE("clients that are sent to another ensemble all come over: the holder, and who waits") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server before;
  Server after;
  std::list<Observed> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(before.connect_string());
  Observed& holding = clients.front();
  advance(*holding);
  InterProcessMutex mutex{*holding, "/lock"};
  Lease lease = mutex.acquire();
  std::list<Waiter> waiters;
  for (auto each = std::next(clients.begin()); each != clients.end(); ++each) {
    waiters.emplace_back(**each, "/lock");
    REQUIRE(eventually([&] { return mutex.participants().size() == waiters.size() + 1; }));
  }
  before.kill();
  for (Observed& each : clients) each->set_servers(after.connect_string());
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }, soon));
  lease.release();
  // The waiters move to the new server in any order.
  CHECK(eventually(
      [&] {
        waiters.remove_if(
            [](Waiter& each) { return each.has_its_turn(0ms) && each.requeued() > 0; });
        return waiters.empty();
      },
      2 * soon));
  // The holder may be the last client to move: its lease is lost by its own clock before it does.
  for (Observed& each : clients) {
    CHECK(eventually([&] { return is_connected(each->connection_state()); }, soon));
  }
}

TEST_CASE("a client comes back to a server that was restored from an older snapshot") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  namespace fs = std::filesystem;
  Server server;
  const fs::path data = server.directory() / "data";
  const fs::path backup = server.directory() / "backup";
  {
    // The session is long, since a short one may not last on a busy machine.
    Observed writer{server.connect_string(), 10s};
    writer->create("/of-the-backup");
  }
  server.stop();
  fs::copy(data, backup, fs::copy_options::recursive);
  server.start();
  Observed client{server.connect_string()};
  advance(*client);
  server.kill();
  fs::remove_all(data);
  fs::copy(backup, data, fs::copy_options::recursive);
  server.start();
  Waiter waiter{*client, "/lock"};
  CHECK(waiter.has_its_turn(soon));
  CHECK(client.has_in_order(ConnectionState::lost, ConnectionState::connected));
  REQUIRE(is_connected(client->connection_state()));
  CHECK(client->exists("/of-the-backup"));
  CHECK_FALSE(client->exists("/advanced"));
}

TEST_CASE("while all servers are away nothing is given up: waiters keep their places") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  // This timeout is longer than that of the other cases: even on a busy machine the clients
  // reconnect before the server ends their sessions.
  constexpr auto timeout = 3s;
  Server server;
  Observed holding{server.connect_string(), timeout};
  Observed one{server.connect_string(), timeout};
  Observed two{server.connect_string(), timeout};
  Observed idle{server.connect_string(), timeout};
  InterProcessMutex mutex{*holding, "/lock"};
  Lease lease = mutex.acquire();
  Waiter first{*one, "/lock"};
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  Waiter second{*two, "/lock"};
  REQUIRE(eventually([&] { return mutex.participants().size() == 3; }));
  const auto line = nodes_in_line(mutex);
  const std::int64_t session = idle->session().id;
  server.kill();
  // The outage lasts more than two timeouts. Only the holder's session is given up, when its lease
  // clock runs out.
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }, soon));
  CHECK_FALSE(eventually(
      [&] {
        return one.has(ConnectionState::lost) || two.has(ConnectionState::lost) ||
               idle.has(ConnectionState::lost);
      },
      2 * timeout));
  CHECK(first.is_waiting());
  CHECK(second.is_waiting());
  server.start();
  CHECK(eventually([&] { return idle.has(ConnectionState::reconnected); }));
  CHECK(idle->session().id == session);
  const InterProcessMutex seen{*idle, "/lock"};
  CHECK(nodes_in_line(seen) == line);
  lease.release();
  CHECK(first.has_its_turn(soon));
  CHECK(second.has_its_turn(soon));
  CHECK(first.requeued() == 0);
  CHECK(second.requeued() == 0);
  CHECK_FALSE(one.has(ConnectionState::lost));
}

}  // namespace custodian::tests::new_servers_test
