#include "session/cork.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>

#include "session/owned_socket.hpp"
#include "support/catch.hpp"

namespace custodian::detail::cork_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// Two ends of a TCP connection.
struct Ends {
  Ends() {
    tcp::acceptor acceptor{context, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    writer.connect(acceptor.local_endpoint());
    acceptor.accept(reader);
    writer.set_option(tcp::no_delay{true});
  }
  void write(std::string_view text) { asio::write(writer, asio::buffer(text)); }
  /// Waits for the first bytes, and returns those that have arrived together.
  [[nodiscard]] std::string read() {
    pollfd wait{reader.native_handle(), POLLIN, 0};
    constexpr int milliseconds = 10'000;
    REQUIRE(::poll(&wait, 1, milliseconds) == 1);
    std::string text(64, '\0');
    text.resize(reader.read_some(asio::buffer(text)));
    return text;
  }

  asio::io_context context;
  tcp::socket writer{context};
  tcp::socket reader{context};
};

TEST_CASE("parts that are written behind a cork arrive together when it is pulled") {
  Ends ends;
  const int socket = ends.writer.native_handle();
  Cork cork;
  for (int i = 0; i < 100; ++i) {
    cork.put_in(socket);
    ends.write("one ");
    cork.put_in(socket);
    ends.write("whole");
    cork.pull(socket);
    CHECK(ends.read() == "one whole");
  }
}

TEST_CASE("what is written without a cork arrives by itself, also after one was pulled") {
  Ends ends;
  Cork cork;
  cork.put_in(ends.writer.native_handle());
  cork.pull(ends.writer.native_handle());
  ends.write("first");
  CHECK(ends.read() == "first");
  ends.write("second");
  CHECK(ends.read() == "second");
}

TEST_CASE("a socket of another kind has no cork, and the next socket may have one again") {
  std::array<int, 2> pair{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) == 0);
  const OwnedSocket one{pair[0]};
  const OwnedSocket other{pair[1]};
  Cork cork;
  cork.put_in(one.get());
  REQUIRE(::send(one.get(), "text", 4, 0) == 4);
  std::array<char, 8> text{};
  CHECK(::recv(other.get(), text.data(), text.size(), MSG_DONTWAIT) == 4);
  cork.pull(one.get());
  cork.forget();
  Ends ends;
  cork.put_in(ends.writer.native_handle());
  ends.write("one ");
  ends.write("whole");
  cork.pull(ends.writer.native_handle());
  CHECK(ends.read() == "one whole");
}

}  // namespace
}  // namespace custodian::detail::cork_test
