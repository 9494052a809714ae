// A link between the test's server and a socket in the place of the C client's.

#include "session/stream_link.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string>
#include <thread>

#include "session/tls_stream.hpp"
#include "support/catch.hpp"
#include "support/jute.hpp"
#include "unit/session/few_descriptors.hpp"
#include "unit/session/run_until.hpp"
#include "unit/session/tls_contexts.hpp"

namespace custodian::tests::stream_link_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using detail::ServerIdentity;
using detail::SslContext;
using detail::StreamLink;
using detail::TcpStream;
using namespace std::chrono_literals;

std::string frame(std::size_t size) { return Jute{}.string(std::string(size, 'x')).bytes(); }

std::shared_ptr<StreamLink> secure_link(std::shared_ptr<SslContext> context, tcp::socket socket) {
  const detail::Address address{socket.remote_endpoint(), {"localhost"}};
  return std::make_shared<StreamLink>(
      std::make_unique<detail::TlsStream>(std::move(context), TcpStream{std::move(socket)},
                                          ServerIdentity{TlsOptions{}, address}),
      nullptr, address);
}

struct Linked {
  Linked() {
    tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
    tcp::socket socket{context};
    socket.connect(acceptor.local_endpoint());
    acceptor.accept(server.lowest_layer());
    link = secure_link(client_context(), std::move(socket));
    bool greeted = false;
    server.async_handshake(asio::ssl::stream_base::server, [&](error_code error) {
      REQUIRE_FALSE(error);
      greeted = true;
    });
    link->open([&](error_code error, const std::string& reason, detail::OwnedSocket end) {
      INFO(reason);
      REQUIRE_FALSE(error);
      client.assign(asio::local::stream_protocol{}, end.release());
    });
    run_until([&] { return greeted && client.is_open(); });
  }

  template <typename Done>
  void run_until(const Done& done) {
    tests::run_until(context, done);
  }
  void run_for(std::chrono::milliseconds time) {
    context.restart();
    context.run_for(time);
  }

  void say(const std::string& bytes) {
    bool sent = false;
    asio::async_write(server, asio::buffer(bytes), [&](error_code error, std::size_t) {
      CHECK_FALSE(error);
      sent = true;
    });
    run_until([&] { return sent; });
  }
  /// Reads on the client's side: `size` bytes, or less if the connection ends before.
  std::string hear(std::size_t size) {
    std::string bytes(size, '\0');
    std::optional<std::size_t> count;
    asio::async_read(client, asio::buffer(bytes),
                     [&](error_code, std::size_t read) { count = read; });
    run_until([&] { return count.has_value(); });
    bytes.resize(*count);
    return bytes;
  }
  /// The number of bytes that the server's kernel has not sent yet.
  int unsent() {
    int bytes = 0;
    REQUIRE(::ioctl(server.lowest_layer().native_handle(), SIOCOUTQ, &bytes) == 0);
    return bytes;
  }
  /// Waits until the server reads something. Returns true if that is the end of the connection.
  bool server_sees_the_end() {
    std::array<char, 1> byte{};
    std::optional<error_code> error;
    server.async_read_some(asio::buffer(byte),
                           [&](error_code result, std::size_t) { error = result; });
    run_until([&] { return error.has_value(); });
    return bool{*error};
  }
  std::string server_hears(std::size_t size) {
    std::string bytes(size, '\0');
    std::optional<std::size_t> count;
    asio::async_read(server, asio::buffer(bytes),
                     [&](error_code, std::size_t read) { count = read; });
    run_until([&] { return count.has_value(); });
    bytes.resize(*count);
    return bytes;
  }
  /// Releases the link, and waits until nothing keeps it alive.
  void let_it_end() {
    const std::weak_ptr<StreamLink> weak = std::exchange(link, nullptr);
    run_until([&] { return weak.expired(); });
  }

  asio::io_context context{1};
  SslContext identity = server_context();
  asio::ssl::stream<tcp::socket> server{context, identity};
  std::shared_ptr<StreamLink> link;
  asio::local::stream_protocol::socket client{context};
};

TEST_CASE("a server that shows no certificate is refused", "[stream_link]") {
  asio::io_context io;
  const auto without_certificates = [](SslContext& context) {
    REQUIRE(::SSL_CTX_set_cipher_list(context.native_handle(), "aNULL:@SECLEVEL=0") == 1);
    ::SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_TLSv1_3);
  };
  SslContext identity{SslContext::tls_server};
  without_certificates(identity);
  const auto trust = client_context();
  without_certificates(*trust);
  tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
  tcp::socket socket{io};
  socket.connect(acceptor.local_endpoint());
  asio::ssl::stream<tcp::socket> server{acceptor.accept(), identity};
  bool greeted = false;
  server.async_handshake(asio::ssl::stream_base::server, [&](error_code error) {
    CHECK_FALSE(error);
    greeted = true;
  });
  std::optional<std::string> refusal;
  const auto link = secure_link(trust, std::move(socket));
  link->open([&](error_code error, const std::string& reason, const detail::OwnedSocket&) {
    CHECK(error);
    refusal = reason;
  });
  io.run_for(20s);
  CHECK(greeted);
  CHECK(refusal == "TLS handshake: the server has shown no certificate");
}

TEST_CASE("a frame that the pair cannot hold is judged when all before it is read",
          "[stream_link]") {
  Linked linked;
  std::string judged;
  linked.link->set_judge([&](std::string_view bytes) {
    judged = bytes;
    return true;
  });
  const std::string before = frame(100);
  const std::string longer = frame(1'500'000);
  const std::string after = frame(7);
  bool sent = false;
  const std::string all = before + longer + after;
  asio::async_write(linked.server, asio::buffer(all),
                    [&](error_code, std::size_t) { sent = true; });
  linked.run_until([&] { return sent; });
  linked.run_for(20ms);
  CHECK(judged.empty());
  CHECK(linked.hear(before.size()) == before);
  CHECK(linked.hear(longer.size()) == longer);
  CHECK(judged == longer);
  judged.clear();
  CHECK(linked.hear(after.size()) == after);
  CHECK(judged.empty());
}

TEST_CASE("all that comes at once is handed on at once", "[stream_link]") {
  Linked linked;
  // These are two records, which the link finds in a single read, and nothing comes after them.
  asio::write(linked.server, asio::buffer(frame(100)));
  asio::write(linked.server, asio::buffer(frame(200)));
  CHECK(linked.hear(308) == frame(100) + frame(200));
  // This record is larger than the free part of the link's buffer: the rest waits within OpenSSL.
  const std::string much = frame(10'000) + frame(14'000);
  asio::write(linked.server, asio::buffer(much));
  CHECK(linked.hear(much.size()) == much);
}

TEST_CASE("of a frame that is refused not a byte is handed on", "[stream_link]") {
  Linked linked;
  linked.link->set_judge([](std::string_view) { return false; });
  const std::string longer = frame(1'500'000);
  linked.say(longer);
  CHECK(linked.hear(1).empty());
  CHECK(linked.server_sees_the_end());
  linked.let_it_end();
}

TEST_CASE("what a server has said is handed on, though it takes nothing more", "[stream_link]") {
  Linked linked;
  const std::string replies = frame(1000) + frame(500'000);
  linked.say(replies);
  // The link has read both frames; the second waits until the client has read the first.
  linked.run_until([&] { return linked.unsent() == 0; });
  linked.run_for(100ms);
  linked.server.lowest_layer().set_option(asio::socket_base::linger{true, 0});
  linked.server.lowest_layer().close();
  asio::write(linked.client, asio::buffer(frame(10)));
  CHECK(linked.hear(replies.size()) == replies);
  linked.client.close();
  linked.let_it_end();
}

TEST_CASE("a link to a server that takes nothing more lives until it is aborted", "[stream_link]") {
  Linked linked;
  linked.client.non_blocking(true);
  const std::string much(std::size_t{1} << 20U, 'x');
  error_code full;
  while (!full) {
    linked.client.write_some(asio::buffer(much), full);
    linked.run_for(2ms);
  }
  for (int i = 0; i < 20; ++i) {
    error_code ignored;
    linked.client.write_some(asio::buffer(much), ignored);
    linked.run_for(2ms);
  }
  linked.client.close();
  // This is longer than the link waits for the server's close_notify.
  linked.run_for(1200ms);
  CHECK(linked.link.use_count() > 1);
  linked.link->abort();
  linked.let_it_end();
}

/// A forked child, which lives until its object is destroyed.
class Child {
 public:
  /// Calls `work` in the child.
  template <typename Work>
  explicit Child(asio::io_context& context, const Work& work) {
    REQUIRE(::pipe(hold_.data()) == 0);
    context.notify_fork(asio::execution_context::fork_prepare);
    process_ = ::fork();
    if (process_ == 0) {
      ::close(hold_[1]);
      context.notify_fork(asio::execution_context::fork_child);
      work();
      char byte = 0;
      ::_exit(::read(hold_[0], &byte, 1) == 0 ? 0 : 1);
    }
    context.notify_fork(asio::execution_context::fork_parent);
    ::close(hold_[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(hold_[1]);
    int status = -1;
    CHECK(::waitpid(process_, &status, 0) == process_);
    CHECK(status == 0);
  }

 private:
  std::array<int, 2> hold_{};
  pid_t process_ = -1;
};

TEST_CASE("a forked child that runs the context reads and writes nothing of a link",
          "[stream_link]") {
  Linked linked;
  asio::write(linked.server, asio::buffer(frame(100)));
  asio::write(linked.client, asio::buffer(frame(50)));
  const Child child{linked.context, [&] { linked.run_for(100ms); }};
  std::this_thread::sleep_for(200ms);  // lets the child run first
  CHECK(linked.hear(104) == frame(100));
  CHECK(linked.server_hears(54) == frame(50));
  linked.say(frame(100));
  CHECK(linked.hear(104) == frame(100));
}

TEST_CASE("a forked child that lives on hides no end of a link", "[stream_link]") {
  SECTION("that was aborted") {
    Linked linked;
    const Child child{linked.context, [] {}};
    linked.link->abort();
    CHECK(linked.hear(1).empty());
    CHECK(linked.server_sees_the_end());
  }
  SECTION("that the server has ended") {
    Linked linked;
    const Child child{linked.context, [] {}};
    linked.server.lowest_layer().shutdown(tcp::socket::shutdown_both);
    CHECK(linked.hear(1).empty());
    linked.let_it_end();
  }
  SECTION("that the client has ended") {
    Linked linked;
    const Child child{linked.context, [] {}};
    linked.client.shutdown(asio::socket_base::shutdown_both);
    CHECK(linked.server_sees_the_end());
    linked.server.lowest_layer().close();
    linked.let_it_end();
  }
}

TEST_CASE("a link ends while the process has no descriptors for its pair", "[stream_link]") {
  asio::io_context context;
  tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
  tcp::socket socket{context};
  socket.connect(acceptor.local_endpoint());
  const tcp::socket server = acceptor.accept();
  const detail::Address address{socket.remote_endpoint(), {}};
  const auto link = std::make_shared<StreamLink>(
      detail::make_plain_stream(TcpStream{std::move(socket)}), nullptr, address);
  std::optional<error_code> ended;
  std::string why;
  const FewDescriptors none{0};
  link->open([&](error_code error, std::string reason, const detail::OwnedSocket&) {
    ended = error;
    why = std::move(reason);
  });
  tests::run_until(context, [&] { return ended.has_value(); });
  CHECK(*ended == std::errc::too_many_files_open);
  CHECK(why == "no pair of sockets: Too many open files");
}

}  // namespace
}  // namespace custodian::tests::stream_link_test
