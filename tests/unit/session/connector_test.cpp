// The connector, with a listener of the test's own.

#include "session/connector.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/closed_input.hpp"
#include "unit/session/few_descriptors.hpp"

namespace custodian::tests::connector_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using detail::Connector;
using namespace std::chrono_literals;

tcp::endpoint loopback(std::uint16_t port = 0) { return {asio::ip::address_v4::loopback(), port}; }

struct Dialling {
  asio::io_context context;
  Connector connector{context.get_executor(), nullptr, nullptr, nullptr};
  std::optional<detail::Dialled> result{};

  void dial(const tcp::endpoint& endpoint, std::chrono::milliseconds timeout = 10s) {
    dial(std::vector{endpoint}, timeout);
  }
  void dial(const std::vector<tcp::endpoint>& endpoints, std::chrono::milliseconds timeout = 10s) {
    std::vector<detail::Address> addresses;
    for (const tcp::endpoint& endpoint : endpoints) addresses.push_back({endpoint});
    connector.connect(addresses, timeout,
                      [this](detail::Dialled dialled) { result.emplace(std::move(dialled)); });
  }
  bool run() {
    context.restart();
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!result && std::chrono::steady_clock::now() < end) context.run_one_for(100ms);
    return result.has_value();
  }
};

/// A listener whose backlog is full: a client that dials it gets no answer.
struct Silent {
  asio::io_context context;
  tcp::acceptor acceptor{context};
  std::vector<tcp::socket> filling;

  Silent() {
    acceptor.open(tcp::v4());
    acceptor.bind(loopback());
    acceptor.listen(1);
    for (int i = 0; i < 4; ++i) {
      filling.emplace_back(context).open(tcp::v4());
      filling.back().non_blocking(true);
      // The system call does not block, as Asio's connect() would.
      const tcp::endpoint endpoint = acceptor.local_endpoint();
      static_cast<void>(::connect(filling.back().native_handle(), endpoint.data(),
                                  static_cast<socklen_t>(endpoint.size())));
    }
  }
};

TEST_CASE("a connected socket does not block, nor wait to send, nor outlive an exec",
          "[connector]") {
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  dialling.dial(acceptor.local_endpoint());
  CHECK(dialling.connector.busy());
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.connector.busy());
  REQUIRE_FALSE(dialling.result->error);
  const int socket = dialling.result->socket.get();
  CHECK((::fcntl(socket, F_GETFL) & O_NONBLOCK) != 0);
  CHECK((::fcntl(socket, F_GETFD) & FD_CLOEXEC) != 0);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  REQUIRE(::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) == 0);
  CHECK(no_delay != 0);

  // The caller owns the socket: the peer sees its end only when the caller closes it.
  tcp::socket other = acceptor.accept();
  other.non_blocking(true);
  char byte = 0;
  error_code error;
  other.receive(asio::buffer(&byte, 1), 0, error);
  CHECK(error == asio::error::would_block);
  dialling.result.reset();
  other.non_blocking(false);
  other.receive(asio::buffer(&byte, 1), 0, error);
  CHECK(error == asio::error::eof);
}

/// Has no TLS, but notes the server's socket.
struct NotedSocket final : detail::Tls {
  std::unique_ptr<detail::ServerStream> stream(
      detail::TcpStream server, const detail::Address&,
      const std::function<void(LogLevel, std::string)>&) override {
    socket = server.lowest_layer().native_handle();
    return detail::make_plain_stream(std::move(server));
  }
  int socket = -1;
};

/// The events of a descriptor for which this process's epolls wake up; 0 if there are none.
std::uint32_t awaited_events(int descriptor) {
  std::uint32_t all = 0;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
    std::ifstream info{file.path()};
    for (std::string word; info >> word;) {
      int watched = -1;
      std::uint32_t events = 0;
      if (word != "tfd:" || !(info >> watched >> word >> std::hex >> events >> std::dec)) continue;
      if (watched == descriptor) all |= events;
    }
  }
  return all;
}

TEST_CASE("a link's connection does not wake up because there is room for output", "[connector]") {
  Dialling dialling;
  const auto noted = std::make_shared<NotedSocket>();
  Connector connector{dialling.context.get_executor(), noted, nullptr, nullptr};
  tcp::acceptor acceptor{dialling.context, loopback()};
  connector.connect({{acceptor.local_endpoint()}}, 10s,
                    [&](detail::Dialled dialled) { dialling.result.emplace(std::move(dialled)); });
  REQUIRE(dialling.run());
  REQUIRE_FALSE(dialling.result->error);
  CHECK((awaited_events(noted->socket) & EPOLLIN) != 0);
  CHECK((awaited_events(noted->socket) & EPOLLOUT) == 0);
  dialling.result->link->abort();
}

TEST_CASE("an address where nobody listens is refused", "[connector]") {
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  const auto endpoint = acceptor.local_endpoint();
  acceptor.close();
  dialling.dial(endpoint);
  REQUIRE(dialling.run());
  CHECK(dialling.result->error == asio::error::connection_refused);
  CHECK(dialling.result->socket.get() < 0);
}

TEST_CASE("an address that is silent ends with its time", "[connector]") {
  Silent silent;
  Dialling dialling;
  dialling.dial(silent.acceptor.local_endpoint(), 50ms);
  REQUIRE(dialling.run());
  CHECK(dialling.result->error == asio::error::timed_out);
}

TEST_CASE("a silent address does not keep the second one waiting", "[connector]") {
  Silent silent;
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  dialling.dial({silent.acceptor.local_endpoint(), acceptor.local_endpoint()});
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.result->error);
  CHECK(dialling.result->address.endpoint == acceptor.local_endpoint());
  REQUIRE(dialling.result->others.size() == 1);
  CHECK(dialling.result->others.front().endpoint == silent.acceptor.local_endpoint());
}

TEST_CASE("a second address is not dialled while the first one connects", "[connector]") {
  Dialling dialling;
  tcp::acceptor first{dialling.context, loopback()};
  tcp::acceptor second{dialling.context, loopback()};
  dialling.dial({first.local_endpoint(), second.local_endpoint()});
  REQUIRE(dialling.run());
  CHECK(dialling.result->address.endpoint == first.local_endpoint());
  CHECK(dialling.result->others.empty());
  second.non_blocking(true);
  error_code none;
  second.accept(none);
  CHECK(none == asio::error::would_block);
}

TEST_CASE("where the first address is refused the second is dialled at once", "[connector]") {
  Dialling dialling;
  tcp::acceptor closed{dialling.context, loopback()};
  const tcp::endpoint refused = closed.local_endpoint();
  closed.close();
  tcp::acceptor acceptor{dialling.context, loopback()};
  dialling.dial({refused, acceptor.local_endpoint()});
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.result->error);
  CHECK(dialling.result->address.endpoint == acceptor.local_endpoint());

  // If both addresses refuse, the connector fails only after it has dialled both.
  acceptor.close();
  dialling.result.reset();
  dialling.dial({refused, refused});
  REQUIRE(dialling.run());
  CHECK(dialling.result->error == asio::error::connection_refused);
}

TEST_CASE("two silent addresses end with their time, which is for both", "[connector]") {
  Silent first;
  Silent second;
  Dialling dialling;
  dialling.dial({first.acceptor.local_endpoint(), second.acceptor.local_endpoint()},
                Connector::head_start + 500ms);
  REQUIRE(dialling.run());
  CHECK(dialling.result->error == asio::error::timed_out);
  CHECK(dialling.result->others.size() == 1);
}

TEST_CASE("an address that is cancelled never calls back, and another can be dialled",
          "[connector]") {
  Silent silent;
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  dialling.dial(silent.acceptor.local_endpoint(), 50ms);
  dialling.connector.cancel();
  CHECK_FALSE(dialling.connector.busy());
  dialling.dial(acceptor.local_endpoint());
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.result->error);
}

TEST_CASE("a connector that is destroyed while it dials never calls back", "[connector]") {
  Silent silent;
  asio::io_context context;
  bool called = false;
  {
    Connector connector{context.get_executor(), nullptr, nullptr, nullptr};
    connector.connect({{silent.acceptor.local_endpoint()}}, 20ms,
                      [&called](const detail::Dialled&) { called = true; });
  }
  context.run_for(100ms);
  CHECK_FALSE(called);
}

TEST_CASE("a connector dials nobody while the process has no descriptors", "[connector]") {
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  {
    const FewDescriptors none{0};
    dialling.dial(std::vector{acceptor.local_endpoint(), acceptor.local_endpoint()});
    REQUIRE(dialling.run());
    CHECK(dialling.result->error == std::errc::too_many_files_open);
    CHECK_FALSE(dialling.result->accepted);
  }
  dialling.result.reset();
  dialling.dial(acceptor.local_endpoint());
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.result->error);
}

TEST_CASE("a second address that is refused does not end the wait for the first", "[connector]") {
  Dialling dialling;
  const Silent silent;
  tcp::acceptor closed{dialling.context, loopback()};
  const tcp::endpoint nobody = closed.local_endpoint();
  closed.close();
  dialling.dial(std::vector{silent.acceptor.local_endpoint(), nobody}, 1s);
  REQUIRE(dialling.run());
  CHECK(dialling.result->error == asio::error::timed_out);
}

TEST_CASE("a connector of a process without standard input may get the socket 0", "[connector]") {
  Dialling dialling;
  tcp::acceptor acceptor{dialling.context, loopback()};
  const ClosedInput closed;
  dialling.dial(acceptor.local_endpoint());
  REQUIRE(dialling.run());
  CHECK_FALSE(dialling.result->error);
  CHECK(dialling.result->socket.get() == 0);
  dialling.result.reset();
}

}  // namespace
}  // namespace custodian::tests::connector_test
