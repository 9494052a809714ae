// A descriptor follows the library's socket, and waits for it.

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>

#include "custodian/error.hpp"
#include "session/descriptor.hpp"
#include "support/catch.hpp"
#include "unit/session/run_until.hpp"

namespace custodian::tests::descriptor_wait_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::Descriptor;
using Socket = asio::local::stream_protocol::socket;

/// A connection: the library's end, and the server's.
struct Ends {
  explicit Ends(asio::io_context& context) : ours{context}, theirs{context} {
    asio::local::connect_pair(ours, theirs);
  }
  void send(const std::string& text) { asio::write(theirs, asio::buffer(text)); }

  Socket ours;
  Socket theirs;
};

struct World {
  asio::io_context context{1};
  Ends ends{context};
  Descriptor descriptor{context.get_executor()};
  std::string calls;

  /// A callback that notes its name.
  std::function<void()> note(char name) {
    return [this, name] { calls += name; };
  }
  /// Runs what is ready now; no wait that is left ends by itself.
  void poll() {
    context.restart();
    context.poll();
  }
};

TEST_CASE("a descriptor follows each socket once, and drops it when the library has none") {
  World world;
  Descriptor& descriptor = world.descriptor;
  CHECK_FALSE(descriptor.is_open());
  CHECK_FALSE(descriptor.follow(-1));
  const int socket = world.ends.ours.native_handle();
  CHECK(descriptor.follow(socket));
  CHECK(descriptor.is_open());
  CHECK_FALSE(descriptor.follow(socket));
  CHECK(descriptor.is_open());
  Ends others{world.context};
  CHECK(descriptor.follow(others.ours.native_handle()));
  CHECK(descriptor.follow(socket));
  CHECK_FALSE(descriptor.follow(-1));
  CHECK_FALSE(descriptor.is_open());
  // The same socket is a new one after that.
  CHECK(descriptor.follow(socket));
  // The number of a closed socket counts as no socket, and drops the earlier socket as -1 does.
  const int closed = others.ours.native_handle();
  others.ours.close();
  CHECK_FALSE(descriptor.follow(closed));
  CHECK_FALSE(descriptor.is_open());
  CHECK(descriptor.follow(socket));
}

TEST_CASE("a descriptor of number 0 is followed as any other") {
  World world;
  const int spare = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  REQUIRE(::dup2(world.ends.ours.native_handle(), 0) == 0);
  CHECK(world.descriptor.follow(0));
  if (spare >= 0) {
    ::dup2(spare, 0);
    ::close(spare);
  } else {
    ::close(0);
  }
}

TEST_CASE("a socket that is followed is no child process's") {
  World world;
  const int socket = world.ends.ours.native_handle();
  REQUIRE(::fcntl(socket, F_SETFD, 0) == 0);
  REQUIRE(world.descriptor.follow(socket));
  CHECK(::fcntl(socket, F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("a descriptor keeps a connection open when the library has closed its own") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.ends.ours.close();
  std::array<char, 1> byte{};
  world.ends.theirs.non_blocking(true);
  error_code error;
  world.ends.theirs.read_some(asio::buffer(byte), error);
  CHECK(error == asio::error::would_block);
  world.descriptor.release();
  world.ends.theirs.read_some(asio::buffer(byte), error);
  CHECK(error == asio::error::eof);
}

TEST_CASE("a wait for input ends once, when there is some, and may be repeated") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.descriptor.wait_readable(world.note('a'));
  // The first wait is kept.
  world.descriptor.wait_readable(world.note('b'));
  world.poll();
  CHECK(world.calls.empty());
  world.ends.send("x");
  run_until(world.context, [&] { return !world.calls.empty(); });
  world.poll();
  CHECK(world.calls == "a");
  world.descriptor.wait_readable(world.note('c'));
  run_until(world.context, [&] { return world.calls.size() > 1; });
  CHECK(world.calls == "ac");
}

TEST_CASE("waits for input and for room are two") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.descriptor.wait_readable(world.note('r'));
  world.descriptor.wait_writable(world.note('w'));
  world.descriptor.wait_writable(world.note('x'));
  run_until(world.context, [&] { return !world.calls.empty(); });
  world.poll();
  CHECK(world.calls == "w");
  world.descriptor.wait_writable(world.note('v'));
  world.ends.send("x");
  run_until(world.context, [&] { return world.calls.size() == 3; });
  CHECK(world.calls.find('r') != std::string::npos);
  CHECK(world.calls.find('v') != std::string::npos);
}

TEST_CASE("a wait on a socket that was dropped calls nobody") {
  World world;
  // Without a socket there is nothing to wait for.
  world.descriptor.wait_readable(world.note('0'));
  Ends others{world.context};
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.descriptor.wait_readable(world.note('a'));
  world.descriptor.wait_writable(world.note('b'));
  SECTION("because it was released") {
    world.descriptor.release();
    world.ends.send("x");
    world.poll();
    CHECK(world.calls.empty());
    // No wait is left that would keep the context at work.
    CHECK(world.context.stopped());
  }
  SECTION("because another one is followed, on which a wait may begin at once") {
    REQUIRE(world.descriptor.follow(others.ours.native_handle()));
    world.descriptor.wait_readable(world.note('c'));
    world.ends.send("x");
    others.send("x");
    run_until(world.context, [&] { return !world.calls.empty(); });
    world.poll();
    CHECK(world.calls == "c");
    world.descriptor.wait_readable(world.note('d'));
    run_until(world.context, [&] { return world.calls.size() > 1; });
    CHECK(world.calls == "cd");
  }
}

TEST_CASE("a connection that is shut down has ended for both sides") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.descriptor.shut_down();
  std::array<char, 1> byte{};
  error_code error;
  asio::read(world.ends.theirs, asio::buffer(byte), error);
  CHECK(error == asio::error::eof);
  asio::read(world.ends.ours, asio::buffer(byte), error);
  CHECK(error == asio::error::eof);
  CHECK(world.descriptor.is_open());
  world.descriptor.release();
  world.descriptor.shut_down();  // does nothing
}

TEST_CASE("input that is dropped is gone, however much it is, until the peer closes") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  CHECK(world.descriptor.discard_input());
  world.ends.send(std::string(10'000, 'x'));
  CHECK(world.descriptor.discard_input());
  CHECK(world.ends.ours.available() == 0);
  world.ends.send("x");
  world.ends.theirs.close();
  CHECK_FALSE(world.descriptor.discard_input());
  CHECK_FALSE(world.descriptor.discard_input());
}

TEST_CASE("what is left unread is read in parts of 4 KiB") {
  World world;
  REQUIRE(world.descriptor.follow(world.ends.ours.native_handle()));
  world.ends.send(std::string(4096, 'x') + "yz");
  CHECK(world.descriptor.unread() == std::string(4096, 'x'));
  CHECK(world.descriptor.unread() == "yz");
  CHECK(world.descriptor.unread().empty());
}

}  // namespace
}  // namespace custodian::tests::descriptor_wait_test
