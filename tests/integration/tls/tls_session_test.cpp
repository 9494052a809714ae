// What TLS changes for a session: long answers, forks, the end, and the lease clock.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "tls_fixture.hpp"

namespace custodian::tests::tls_session_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::Direction;
using testing::FaultProxy;
using testing::TestingServer;

TEST_CASE("a transaction of thousands of operations is answered over TLS") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.session_timeout = 30s;
  LogLines log;
  options.log = log.sink();
  Client client{options};
  client.create("/a");
  for (const int sets : {100, 1'000, 4'000, 12'000}) {
    const std::uint64_t connection = client.session().connection;
    Transaction transaction;
    for (int i = 0; i < sets; ++i) transaction.push_back(set("/a", ""));
    // Other requests wait behind the transaction.
    std::vector<std::future<std::tuple<error_code, GetResult>>> behind;
    auto results = begun<std::vector<TransactionResult>>(
        [&](auto done) { client.async_commit(transaction, {}, done); });
    for (int i = 0; i < 20; ++i) {
      behind.push_back(begun<GetResult>([&](auto done) { client.async_get("/a", {}, done); }));
    }
    CHECK_FALSE(std::get<error_code>(results.get()));
    for (auto& each : behind) CHECK_FALSE(std::get<error_code>(each.get()));
    INFO(log.all());
    CHECK(client.session().connection == connection);
  }
}

TEST_CASE("servers that go away within a handshake, and then altogether, are one warning") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  ClientOptions options = secure_options(proxy.endpoint(), files);
  options.session_timeout = 30s;
  LogLines log;
  options.log = log.sink();
  Client client{options};
  client.wait_connected();
  // A server that has just been started may have refused its first connection.
  const auto warnings = [&] { return log.count("warning: could not connect"); };
  const auto before = warnings();
  proxy.set_target(server.endpoint());  // its plain port
  proxy.cut();
  REQUIRE(eventually([&] { return warnings() > before; }));
  proxy.refuse();
  REQUIRE(eventually([&] { return log.contains("onnection refused"); }));
  INFO(log.all());
  CHECK(warnings() == before + 1);
  proxy.set_target(server.secure_endpoint());
  proxy.accept();
  client.wait_connected();
}

TEST_CASE("a forked child that runs its parent's context leaves a connection over TLS alone") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  asio::io_context context;
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.session_timeout = 6s;
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
    context.run_for(2500ms);  // longer than a client is silent
    ::_exit(0);
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
  CHECK(exists());
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection == before.connection);
}

TEST_CASE("an address at which TLS fails again and again rests longer and longer") {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  std::atomic<int> connections = 0;
  std::function<void()> accept = [&] {
    acceptor.async_accept([&](error_code error, const asio::ip::tcp::socket&) {
      if (error) return;
      ++connections;  // the socket is closed at once
      accept();
    });
  };
  accept();
  std::jthread serving{[&] { context.run(); }};
  const Directory files;
  {
    const Client client{secure_options({"127.0.0.1", acceptor.local_endpoint().port()}, files)};
    CHECK(eventually([&] { return connections >= 3; }));
    std::this_thread::sleep_for(500ms);
  }
  // The rests double up to a second: in the time that a test may take there is room for few.
  CHECK(connections < 60);
  asio::post(context, [&] { acceptor.close(); });
}

TEST_CASE("a child that lives on hides no end of a connection over TLS") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  Client observer{options_for(server.connect_string())};
  std::array<int, 2> done{};
  REQUIRE(::pipe(done.data()) == 0);
  pid_t child = -1;
  {
    Client client{secure_options(proxy.endpoint(), files)};
    client.create("/mine", "", {.mode = CreateMode::ephemeral});
    child = ::fork();
    if (child == 0) {
      ::close(done[1]);
      char byte = 0;
      ::_exit(::read(done[0], &byte, 1) == 0 ? 0 : 1);
    }
    proxy.cut();
    CHECK(client.exists("/mine"));
    CHECK(eventually([&] { return proxy.connections() == 1; }));
    client.close();
  }
  CHECK_FALSE(observer.exists("/mine"));
  CHECK(eventually([&] { return proxy.connections() == 0; }));
  ::close(done[0]);
  ::close(done[1]);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a close ends in time, and leaves nothing, though the server takes nothing more") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  asio::io_context context;
  // A user of the seam may keep a session that is closed.
  std::shared_ptr<Session> session;
  ClientOptions options = secure_options(proxy.endpoint(), files);
  if (GENERATE(false, true)) {
    options.session_factory = [&session](auto&&... parts) {
      return session = make_zookeeper_session(std::forward<decltype(parts)>(parts)...);
    };
  }
  {
    Client client{context.get_executor(), options};
    bool connected = false;
    client.async_create("/a", "", {}, [&](error_code error, const Created&) {
      connected = !error;
      context.stop();
    });
    context.run_for(patience);
    REQUIRE(connected);
    proxy.hold_back();
    const std::string data(500'000, 'x');
    for (int i = 0; i < 40; ++i) client.async_set("/a", data, {}, [](error_code, Stat) {});
    context.restart();
    context.run_for(200ms);
  }
  context.restart();
  context.run_for(patience);
  CHECK(context.stopped());
}

TEST_CASE("a delay on the way counts against the lease, not for it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  ClientOptions options = secure_options(proxy.endpoint(), files);
  options.session_timeout = 30s;  // a quarter of it may pass without a ping
  Client client{options};
  client.wait_connected({.deadline = patience});
  proxy.delay(Direction::to_client, 1s);
  InterProcessMutex mutex{client, "/lock"};
  const Lease lease = mutex.acquire();
  // Each answer is at least a second old when it arrives. The margin is a tenth of the timeout.
  const auto timeout = client.session().timeout;
  CHECK(lease.remaining() <= timeout - timeout / 10 - 1s);
}

}  // namespace
}  // namespace custodian::tests::tls_session_test
