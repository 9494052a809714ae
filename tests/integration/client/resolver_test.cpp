#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <cstdlib>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/client/fake_resolver.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::resolver_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

std::string port_of(const Server& server) { return std::to_string(server.port()); }

/// The destructor resets the resolver at the end of a test, even of one that fails.
struct NormalAgain {
  ~NormalAgain() { resolving = Resolving::normally; }
};

TEST_CASE(
    "a standing session does not need the resolver, and a look-up that hangs delays no close") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const NormalAgain normal_again;
  Server server;
  ClientOptions options = options_for("localhost:" + port_of(server));
  options.session_timeout = 1500ms;
  options.touch_interval = 400ms;  // the server's tick is 500 ms
  std::optional<Client> client{std::in_place, options};
  client->wait_connected();
  const SessionInfo session = client->session();
  REQUIRE(session.timeout == 1500ms);
  const auto serve_for = [&](std::chrono::milliseconds time) {
    const Deadline end{time};
    while (!end.passed()) {
      static_cast<void>(client->exists("/"));
      std::this_thread::sleep_for(50ms);
    }
  };
  resolving = Resolving::failing;
  serve_for(session.timeout);
  resolving = Resolving::hanging;
  const int before = lookups;
  client->set_servers("localhost:" + port_of(server));
  REQUIRE(eventually([&] { return lookups > before; }));
  serve_for(2 * session.timeout);
  CHECK(client->session().id == session.id);

  const auto began = std::chrono::steady_clock::now();
  client.reset();
  const auto took = std::chrono::steady_clock::now() - began;
  WARN("closing during a look-up that hangs took "
       << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms");
  // This is only a bound: the look-up takes 30 s.
  CHECK(took < 15s);
}

TEST_CASE("a process ends in the midst of a look-up that hangs") {
  const auto began = std::chrono::steady_clock::now();
  CHECK(std::system(CUSTODIAN_EXIT_WHILE_RESOLVING) == 0);
  const auto took = std::chrono::steady_clock::now() - began;
  WARN("the process took " << std::chrono::duration_cast<std::chrono::milliseconds>(took).count()
                           << " ms");
  CHECK(took < 15s);
}

TEST_CASE("a name with two addresses connects though the first is dead") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  Client client{options_for("two-addresses.test:" + port_of(server))};
  client.wait_connected();
  CHECK(is_connected(client.connection_state()));
}

/// A listener at an IPv6 address that accepts nothing: a client that dials it gets no answer.
class SilentAtVersion6 {
 public:
  explicit SilentAtVersion6(std::uint16_t port) {
    const tcp::endpoint endpoint{asio::ip::address_v6::loopback(), port};
    acceptor_.open(tcp::v6());
    acceptor_.set_option(asio::ip::v6_only{true});
    acceptor_.bind(endpoint);
    acceptor_.listen(1);
    for (tcp::socket& each : filling_) {
      each.open(tcp::v6());
      each.non_blocking(true);
      static_cast<void>(::connect(each.native_handle(), endpoint.data(),
                                  static_cast<socklen_t>(endpoint.size())));
    }
  }

 private:
  asio::io_context context_;
  tcp::acceptor acceptor_{context_};
  std::array<tcp::socket, 4> filling_{tcp::socket{context_}, tcp::socket{context_},
                                      tcp::socket{context_}, tcp::socket{context_}};
};

TEST_CASE("a name whose addresses of one family are silent connects by the other family") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  testing::FaultProxy proxy{server.endpoint()};
  const SilentAtVersion6 silent{proxy.endpoint().port};
  ClientOptions options = options_for("two-families.test:" + std::to_string(proxy.endpoint().port));
  options.connect_timeout = 2 * patience;  // so long that only an address of the other family helps
  Client client{options};
  client.wait_connected({.deadline = patience});
  // The client now tries the address last to which it was connected.
  for (int i = 0; i < 2; ++i) {
    proxy.cut();
    CHECK(client.exists("/"));
  }
}

TEST_CASE("a name that resolves later connects later") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const NormalAgain normal_again;
  Server server;
  resolving = Resolving::failing;
  Client client{options_for("localhost:" + port_of(server))};
  CHECK(error_of([&] { client.wait_connected({.deadline = 100ms}); }) == Errc::deadline_exceeded);
  resolving = Resolving::normally;
  client.wait_connected();
}

TEST_CASE("a client that is closed while its names do not resolve does not look them up again") {
  const NormalAgain normal_again;
  resolving = Resolving::failing;
  ClientOptions options = options_for("localhost:1");
  std::atomic<bool> is_pausing{false};
  options.log = [&](LogLevel, std::string_view line) {
    if (line.find("could not resolve") != std::string_view::npos) is_pausing = true;
  };
  bool is_once = false;
  // On a slow machine the pause may end before the client does.
  for (int tries = 0; tries < 10 && !is_once; ++tries) {
    is_pausing = false;
    const int before = lookups;
    std::optional<Client> client{std::in_place, options};
    REQUIRE(eventually([&] { return is_pausing.load(); }));
    client.reset();
    std::this_thread::sleep_for(100ms);  // within which another look-up would begin
    is_once = lookups == before + 1;
  }
  CHECK(is_once);
}

TEST_CASE("a disconnected client keeps its session though the names do not resolve any more") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const NormalAgain normal_again;
  Server server;
  Client client{options_for("localhost:" + port_of(server))};
  client.wait_connected();
  const std::int64_t session = client.session().id;
  resolving = Resolving::failing;
  server.restart();
  client.wait_connected();
  CHECK(client.session().id == session);
}

}  // namespace
}  // namespace custodian::tests::resolver_test
