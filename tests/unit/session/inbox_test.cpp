#include "session/inbox.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <thread>

#include "support/catch.hpp"
#include "support/jute.hpp"

namespace custodian::tests::inbox_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using detail::Inbox;

/// A connection with both its ends: the server writes to one, and the library reads from the other.
class Wire {
 public:
  Wire() {
    tcp::acceptor acceptor{context_, {asio::ip::address_v4::loopback(), 0}};
    library_.connect(acceptor.local_endpoint());
    acceptor.accept(server_);
    server_.set_option(tcp::no_delay{true});
    inbox.disconnected(0);
  }

  void send(const std::string& bytes) { asio::write(server_, asio::buffer(bytes)); }
  void end() { server_.close(); }

  /// The inbox's next verdict on what is in the socket.
  Inbox::Next next() {
    inbox.look_again();
    return inbox.next(library_.native_handle());
  }
  Inbox::Next when_readable() {
    library_.wait(tcp::socket::wait_read);
    return next();
  }
  [[nodiscard]] bool is_readable() {
    pollfd socket{library_.native_handle(), POLLIN, 0};
    return ::poll(&socket, 1, 0) > 0;
  }

  /// Reads as the library does.
  std::string read(std::size_t count) {
    std::string bytes(count, '\0');
    asio::read(library_, asio::buffer(bytes));
    return bytes;
  }

  /// Waits until the kernel has `bytes` bytes for the library, whatever number it was asked to wait
  /// for.
  void wait_for(std::size_t bytes) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (library_.available() < bytes && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    REQUIRE(library_.available() == bytes);
  }
  int descriptor() { return library_.native_handle(); }

  Inbox inbox{0};

 private:
  asio::io_context context_{1};
  tcp::socket server_{context_};
  tcp::socket library_{context_};
};

const std::string greeting = Greeting{}.frame();
const std::string pong = Jute{}.header(-2).frame();

/// Completes the handshake.
void connect(Wire& wire) {
  wire.send(greeting);
  REQUIRE(wire.when_readable() == Inbox::Next::read);
  wire.read(greeting.size());
  wire.inbox.has_read(Inbox::Read::whole_frame);
}

TEST_CASE("inbox: as many frames may be read as are there, and are good") {
  Wire wire;
  CHECK(wire.next() == Inbox::Next::wait);
  connect(wire);
  CHECK(wire.next() == Inbox::Next::wait);
  wire.send(pong + pong + Jute{}.header(5).frame());
  for (int i = 0; i < 2; ++i) {
    CHECK(wire.when_readable() == Inbox::Next::read);
    wire.read(pong.size());
    wire.inbox.has_read(Inbox::Read::whole_frame);
  }
  CHECK(wire.when_readable() == Inbox::Next::fault);
  CHECK(wire.inbox.fault() == "a reply that nobody asked for");
}

TEST_CASE("inbox: a part of a frame is left in the kernel, which wakes nobody for it") {
  Wire wire;
  connect(wire);
  wire.inbox.expect(request::GetChildren{"/", nullptr});
  Jute listing = Jute{}.header(7).number(10'000);
  for (int i = 0; i < 10'000; ++i) listing.string("a name of many");
  const std::string frame = listing.stat().frame();
  wire.send(frame.substr(0, 2));
  CHECK(wire.when_readable() == Inbox::Next::wait);
  CHECK_FALSE(wire.is_readable());
  wire.send(frame.substr(2, 98));
  CHECK(wire.when_readable() == Inbox::Next::wait);
  CHECK_FALSE(wire.is_readable());
  std::thread rest{[&] { wire.send(frame.substr(100) + pong); }};
  CHECK(wire.when_readable() == Inbox::Next::read);
  CHECK(wire.read(frame.size()) == frame);
  wire.inbox.has_read(Inbox::Read::whole_frame);
  rest.join();
  // The socket is readable again for the next frame.
  CHECK(wire.when_readable() == Inbox::Next::read);
}

TEST_CASE("inbox: a connection that ends within a frame is broken, and no fault") {
  Wire wire;
  connect(wire);
  wire.send(pong.substr(0, 10));
  CHECK(wire.when_readable() == Inbox::Next::wait);
  wire.end();
  CHECK(wire.when_readable() == Inbox::Next::broken);
}

TEST_CASE("inbox: the end of a connection is the library's to read") {
  Wire wire;
  connect(wire);
  wire.end();
  CHECK(wire.when_readable() == Inbox::Next::read);
}

TEST_CASE("inbox: a frame too long to be seen is judged by its beginning, and read as it comes") {
  Wire wire;
  connect(wire);
  wire.inbox.expect(request::GetChildren{"/", nullptr});
  const std::string name(1'000'000, 'n');
  const std::string frame =
      Jute{}.header(7).number(4).string(name).string(name).string(name).string(name).stat().frame();
  std::thread all{[&] { wire.send(frame + pong); }};
  Inbox::Next next = wire.when_readable();
  while (next == Inbox::Next::wait) next = wire.when_readable();
  CHECK(next == Inbox::Next::read);
  wire.read(1000);
  wire.inbox.has_read(Inbox::Read::part);
  CHECK(wire.when_readable() == Inbox::Next::read);
  wire.read(frame.size() - 1000);
  wire.inbox.has_read(Inbox::Read::whole_frame);
  CHECK(wire.when_readable() == Inbox::Next::read);
  wire.read(pong.size());
  wire.inbox.has_read(Inbox::Read::whole_frame);
  all.join();
  CHECK(wire.next() == Inbox::Next::wait);
}

TEST_CASE("inbox: a frame that was judged ahead is read as it comes, and the next is looked at") {
  Wire wire;
  connect(wire);
  CHECK(wire.inbox.accepts_ahead(pong));
  wire.send(pong.substr(0, 7));
  CHECK(wire.when_readable() == Inbox::Next::read);
  wire.read(7);
  wire.inbox.has_read(Inbox::Read::part);
  wire.send(pong.substr(7));
  CHECK(wire.when_readable() == Inbox::Next::read);
  wire.read(pong.size() - 7);
  wire.inbox.has_read(Inbox::Read::whole_frame);
  CHECK(wire.next() == Inbox::Next::wait);

  // A fault in a frame that is judged ahead shows before any byte of the frame is in the socket.
  CHECK_FALSE(wire.inbox.accepts_ahead(Jute{}.header(5).frame()));
  CHECK(wire.next() == Inbox::Next::fault);
  CHECK(wire.inbox.fault() == "a reply that nobody asked for");
  wire.inbox.disconnected(0);
  CHECK(wire.next() == Inbox::Next::wait);
}

TEST_CASE("inbox: a connection begins with a handshake, whatever was left of the one before") {
  Wire first;
  connect(first);
  first.inbox.expect(request::Exists{"/", nullptr});
  first.send(pong.substr(0, 10));
  CHECK(first.when_readable() == Inbox::Next::wait);
  first.inbox.disconnected(0x1234);
  Wire second;
  std::swap(first.inbox, second.inbox);
  connect(second);
  second.send(Jute{}.header(1).stat().frame());
  CHECK(second.when_readable() == Inbox::Next::fault);
}

/// The first `count` bytes of a listing's frame whose whole size is `size`.
std::string beginning_of_listing(std::size_t size, std::size_t count) {
  const std::string frame = Jute{}
                                .number(static_cast<std::int32_t>(size - 4))
                                .header(7)
                                .number(1)
                                .string(std::string(count, 'n'))
                                .bytes();
  return frame.substr(0, count);
}

TEST_CASE("inbox: a judgement needs 64 bytes of a frame, however few the kernel can hold") {
  Wire wire;
  connect(wire);
  wire.inbox.expect(request::GetChildren{"/", nullptr});
  wire.send(beginning_of_listing(Inbox::longest_whole + 1, 63));
  wire.wait_for(63);
  // The first look asks the kernel for more. The second one must judge the bytes that are there.
  CHECK(wire.next() == Inbox::Next::wait);
  CHECK(wire.next() == Inbox::Next::wait);
  wire.send("n");
  wire.wait_for(64);
  CHECK(wire.next() == Inbox::Next::read);
  // One byte makes the socket readable again.
  wire.read(64);
  wire.inbox.has_read(Inbox::Read::part);
  wire.send("n");
  wire.wait_for(1);
  CHECK(wire.is_readable());
}

TEST_CASE("inbox: a socket that others wait for is readable with any byte") {
  Wire wire;
  connect(wire);
  wire.send(pong.substr(0, 7));
  wire.wait_for(7);
  CHECK(wire.next() == Inbox::Next::wait);
  CHECK_FALSE(wire.is_readable());
  wire.inbox.leave(wire.descriptor());
  CHECK(wire.is_readable());
}

TEST_CASE("inbox: a frame too long to be seen is refused by its beginning") {
  Wire wire;
  connect(wire);
  wire.send(beginning_of_listing(Inbox::longest_whole + 1, Inbox::enough_of_a_long_one));
  wire.wait_for(Inbox::enough_of_a_long_one);
  CHECK(wire.next() == Inbox::Next::fault);
  CHECK(wire.inbox.fault() == "a reply that nobody asked for");
}

TEST_CASE("inbox: a frame that can just be seen is not judged by its beginning") {
  Wire wire;
  connect(wire);
  wire.send(beginning_of_listing(Inbox::longest_whole, Inbox::enough_of_a_long_one));
  wire.wait_for(Inbox::enough_of_a_long_one);
  CHECK(wire.next() == Inbox::Next::wait);
}

}  // namespace
}  // namespace custodian::tests::inbox_test
