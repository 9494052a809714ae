#include "session/tls_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string>

#include "support/catch.hpp"
#include "unit/session/run_until.hpp"
#include "unit/session/tls_contexts.hpp"

namespace custodian::tests::tls_stream_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using detail::ServerIdentity;
using namespace std::chrono_literals;

/// A stream and its server, which have shaken hands.
struct Greeted {
  /// `without` are options of OpenSSL for the server.
  explicit Greeted(std::uint64_t without = 0) {
    ::SSL_set_options(server.native_handle(), without);
    std::optional<error_code> accepted;
    std::optional<error_code> opened;
    server.async_handshake(asio::ssl::stream_base::server,
                           [&](error_code error) { accepted = error; });
    stream.open([&](error_code error, const std::string&) { opened = error; });
    run_until([&] { return accepted && opened; });
    REQUIRE_FALSE(*accepted);
    REQUIRE_FALSE(*opened);
  }

  template <typename Done>
  void run_until(const Done& done) {
    tests::run_until(context, done);
  }

  /// Sends at once all that `write` writes on the server's side.
  template <typename Write>
  void together(const Write& write) {
    const int socket = server.next_layer().native_handle();
    for (const int held_back : {1, 0}) {
      REQUIRE(::setsockopt(socket, IPPROTO_TCP, TCP_CORK, &held_back, sizeof held_back) == 0);
      if (held_back == 1) write();
    }
  }

  void write(const std::string& reply) { asio::write(server, asio::buffer(reply)); }

  struct Read {
    error_code error;
    std::string bytes;
  };
  /// One read into a buffer of this size.
  Read read(std::size_t room = 16'384) {
    std::string bytes(room, '\0');
    std::optional<Read> result;
    stream.read_some(asio::buffer(bytes), [&](error_code error, std::size_t count) {
      result = Read{error, bytes.substr(0, count)};
    });
    CHECK_FALSE(result);
    run_until([&] { return result.has_value(); });
    return *result;
  }

  asio::io_context context{1};
  tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  tcp::socket ours{[this] {
    tcp::socket socket{context};
    socket.connect(acceptor.local_endpoint());
    return socket;
  }()};
  detail::SslContext identity = server_context();
  asio::ssl::stream<tcp::socket> server{acceptor.accept(), identity};
  detail::TlsStream stream{
      client_context(), detail::TcpStream{std::move(ours)},
      ServerIdentity{TlsOptions{}, {server.lowest_layer().local_endpoint(), {"localhost"}}}};
};

TEST_CASE("one read of a TLS stream takes all records that have come") {
  Greeted greeted;
  greeted.together([&] {
    for (const char* const reply : {"one", "two", "three"}) greeted.write(reply);
  });
  const Greeted::Read all = greeted.read();
  CHECK_FALSE(all.error);
  CHECK(all.bytes == "onetwothree");
  // Bytes that do not fit into the buffer are read later.
  greeted.together([&] {
    greeted.write("four");
    greeted.write("five");
  });
  CHECK(greeted.read(6).bytes == "fourfi");
  CHECK(greeted.read(6).bytes == "ve");
}

TEST_CASE("a TLS stream gives what came before a broken record, and then says what is broken") {
  Greeted greeted;
  // A record of 32 bytes that no key has made.
  std::string broken{"\x17\x03\x03\x00\x20", 5};
  broken += std::string(32, 'x');
  greeted.together([&] {
    greeted.write("good");
    asio::write(greeted.server.next_layer(), asio::buffer(broken));
  });
  const Greeted::Read good = greeted.read();
  CHECK_FALSE(good.error);
  CHECK(good.bytes == "good");
  for (int i = 0; i < 2; ++i) {
    const Greeted::Read failed = greeted.read();
    CHECK(failed.error);
    CHECK(failed.bytes.empty());
    CHECK(greeted.stream.fault_of(failed.error) == "TLS: decryption failed or bad record mac");
  }
}

TEST_CASE("a TLS stream goes on when its server asks for a renegotiation") {
  Greeted greeted{SSL_OP_NO_TLSv1_3};
  SSL* const tls = greeted.server.native_handle();
  greeted.together([&] {
    greeted.write("before");
    REQUIRE(::SSL_renegotiate(tls) == 1);
    REQUIRE(::SSL_do_handshake(tls) == 1);
    greeted.write("after");  // also sends what the handshake has written
  });
  CHECK(greeted.read().bytes == "beforeafter");
  bool written = false;
  const std::string request = "request";
  greeted.stream.write(asio::buffer(request), [&](error_code error, std::size_t) {
    CHECK_FALSE(error);
    written = true;
  });
  greeted.run_until([&] { return written; });
}

TEST_CASE("a TLS stream gives what came before the server's goodbye, and then the end") {
  Greeted greeted;
  greeted.write("good");
  bool over = false;
  greeted.server.async_shutdown([&](error_code) { over = true; });
  CHECK(greeted.read().bytes == "good");
  const Greeted::Read end = greeted.read();
  CHECK(end.error == asio::error::eof);
  CHECK(greeted.stream.fault_of(end.error).empty());
  greeted.stream.close();
  greeted.run_until([&] { return over; });
}

}  // namespace
}  // namespace custodian::tests::tls_stream_test
