// Requests larger than the servers accept are refused by the client and never sent: the servers
// would close the connection, on which all locks of the client depend.

#include <atomic>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::request_size_test {
namespace {

using namespace std::chrono_literals;
using testing::TestingServerOptions;

constexpr std::size_t small_limit = 4096;

ClientOptions small_options(const Server& server, std::size_t limit) {
  ClientOptions options = options_for(server.connect_string());
  options.max_request_size = limit;
  return options;
}

Server small_server() { return Server{TestingServerOptions{.jute_max_buffer = small_limit}}; }

/// The size of each packet without the varying part; encoded_size_test.cpp explains the numbers.
constexpr std::size_t exists = 8 + 4 + 1;
constexpr std::size_t set_of_a = 8 + 4 + 2 + 4 + 4;
constexpr std::size_t create_of_b = 8 + 4 + 2 + 4 + 27 + 4;
constexpr std::size_t transaction_on_a = 8 + (9 + 4 + 2 + 4) + (9 + 4 + 2 + 4 + 4) + 9;

TEST_CASE("a request of exactly the servers' limit is served, and one byte more is not sent") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Server server = small_server();
  Client client{small_options(server, small_limit)};
  client.wait_connected();
  client.create("/a");
  const std::uint64_t connection = client.session().connection;
  const auto bytes = [](std::size_t size) { return std::string(size, 'x'); };
  const auto path = [](std::size_t size) { return "/" + std::string(size - 1, 'x'); };

  CHECK_FALSE(client.exists(path(small_limit - exists)));
  CHECK(error_of([&] { static_cast<void>(client.exists(path(small_limit - exists + 1))); }) ==
        Errc::invalid_argument);
  client.set("/a", bytes(small_limit - set_of_a));
  CHECK(error_of([&] { client.set("/a", bytes(small_limit - set_of_a + 1)); }) ==
        Errc::invalid_argument);
  client.create("/b", bytes(small_limit - create_of_b));
  CHECK(error_of([&] { client.create("/c", bytes(small_limit - create_of_b + 1)); }) ==
        Errc::invalid_argument);
  client.commit({check("/a"), set("/a", bytes(small_limit - transaction_on_a))});
  CHECK(error_of([&] {
          client.commit({check("/a"), set("/a", bytes(small_limit - transaction_on_a + 1))});
        }) == Errc::invalid_argument);
  CHECK(client.session().connection == connection);
}

TEST_CASE("what a client is told too late is too large is not sent either") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Server server = small_server();
  ClientOptions options = small_options(server, small_limit);
  // The size of this ACL is known only when the create is made.
  options.acl_provider = [](std::string_view path) {
    return path == "/large" ? Acl(500, AclEntry{}) : open_acl();
  };
  Client client{options};
  client.wait_connected();
  const std::uint64_t connection = client.session().connection;
  CHECK(error_of([&] { client.create("/large"); }) == Errc::request_too_large);
  CHECK(error_of([&] { client.commit({create("/large")}); }) == Errc::request_too_large);
  InterProcessMutex mutex{client, "/lock/large"};
  const Lease lease = mutex.acquire();
  CHECK(lease.state() == LeaseState::held);
  CHECK(client.session().connection == connection);
}

TEST_CASE("the server's limit is what the numbers above say", "[fact]") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Server server = small_server();
  // This client is configured for larger requests.
  Client client{small_options(server, 2 * small_limit)};
  client.wait_connected();
  client.create("/a");
  client.set("/a", std::string(small_limit - set_of_a, 'x'));
  CHECK(error_of([&] { client.set("/a", std::string(small_limit - set_of_a + 1, 'x')); }) ==
        ServerErrc::connection_loss);
}

TEST_CASE("paths and identities that are too long are refused, and other locks do not notice") {
  TestClient client{"oversize"};
  InterProcessMutex innocent{*client, "/innocent"};
  const Lease lease = innocent.acquire();
  std::atomic<int> changes = 0;
  const Subscription on_state = lease.on_state([&](LeaseState) { ++changes; });
  const std::uint64_t connection = client->session().connection;
  const std::string path = "/" + std::string(1'100'000, 'x');
  const std::string text(1'100'000, 'x');

  const std::vector<std::pair<std::string, std::function<void()>>> calls{
      {"path", [&] { static_cast<void>(client->get(path)); }},
      {"path", [&] { static_cast<void>(client->exists(path)); }},
      {"path", [&] { static_cast<void>(client->children(path)); }},
      {"path", [&] { client->remove(path); }},
      {"path", [&] { client->create(path); }},
      {"path", [&] { client->set(path, ""); }},
      {"path", [&] { client->sync(path); }},
      {"path", [&] { client->async_get(path, {}, [](auto&&...) {}); }},
      {"transaction", [&] { client->commit({check(path)}); }},
      {"path",
       [&] {
         InterProcessMutex{*client, path};
       }},
      {"path",
       [&] {
         InterProcessReadWriteLock{*client, path};
       }},
      {"path",
       [&] {
         InterProcessSemaphore{*client, path, 2};
       }},
      {"path",
       [&] {
         LeaderLatch{*client, path};
       }},
      {"identity",
       [&] {
         InterProcessMutex{*client, "/lock", {.identity = text}};
       }},
      {"identity",
       [&] {
         InterProcessSemaphore{*client, "/lock", 2, {.identity = text}};
       }},
      {"identity",
       [&] {
         LeaderLatch{*client, "/lock", {.id = text}};
       }},
  };
  for (const auto& [argument, call] : calls) {
    CAPTURE(argument, &call - &calls.front().second);
    CHECK(error_of(call) == Errc::invalid_argument);
    const std::string message = message_of(call);
    CHECK(message.find(argument + ": 11000") != std::string::npos);
    CHECK(message.find("(1048575 bytes a request") != std::string::npos);
    CHECK(message.size() < 2000);
  }
  client->remove_in_background(path);
  client->sync("/innocent");
  CHECK(lease.state() == LeaseState::held);
  CHECK(changes == 0);
  CHECK(client->session().connection == connection);
}

TEST_CASE("a namespace counts") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Server server = small_server();
  ClientOptions options = small_options(server, small_limit);
  options.name_space = std::string(200, 'n');
  Client client{options};
  client.wait_connected();
  const std::uint64_t connection = client.session().connection;
  CHECK(error_of([&] {
          static_cast<void>(client.exists("/" + std::string(small_limit - 200, 'x')));
        }) == Errc::invalid_argument);
  // A lock's path may take half the limit: a hand-over and a downgrade send two such paths in one
  // request.
  const std::string longest = "/" + std::string(1600, 'x');
  CHECK(error_of([&] { InterProcessMutex(client, longest + std::string(200, 'x')); }) ==
        Errc::invalid_argument);
  InterProcessReadWriteLock lock{client, longest};
  const Lease writer = lock.write().acquire();
  const Lease reader = lock.read().acquire(writer);
  CHECK(reader.state() == LeaseState::held);
  CHECK(client.session().connection == connection);
}

}  // namespace
}  // namespace custodian::tests::request_size_test
