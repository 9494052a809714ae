// The interface to the C client (c_client.hpp), with the test at the other end of the socket.

#include "session/c_client.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "session/owned_socket.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"
#include "support/jute.hpp"
#include "unit/closed_input.hpp"
#include "unit/session/few_descriptors.hpp"

namespace custodian::tests::c_client_test {
namespace {

using detail::Arms;
using detail::CClient;
using detail::HandleState;
using detail::OwnedSocket;
using namespace std::chrono_literals;

const request::Exists look{"/there", nullptr};
const std::string ping = Jute{}.header(-2).frame();

/// A request as the C client has sent it.
struct Sent {
  std::int32_t xid = 0;
  std::int32_t type = 0;
};

/// A handle, and the server's end of its connection.
struct Talk {
  explicit Talk(SessionSettings settings = {.session_timeout = 10s}) : client{settings} {}

  /// Gives the handle a new connection. The server has read its handshake, and answers it if
  /// `greeting` is not empty.
  error_code connect(const std::string& greeting = Greeting{}.frame()) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const OwnedSocket theirs{ends[0]};
    server = OwnedSocket{ends[1]};
    if (const error_code error = client.hand_over(theirs.get(), "the test")) return error;
    static_cast<void>(client.interest());
    REQUIRE(received().size() > 4);
    say(greeting);
    return {};
  }
  void say(const std::string& bytes) {
    if (bytes.empty()) return;
    REQUIRE(::send(server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
    client.process(true, false);
  }
  std::string received() {
    std::string all;
    std::array<char, 1000> part{};
    for (ssize_t size = 0; (size = ::recv(server.get(), part.data(), part.size(), 0)) > 0;) {
      all.append(part.data(), static_cast<std::size_t>(size));
    }
    return all;
  }
  std::vector<Sent> requests() {
    static_cast<void>(client.interest());
    std::vector<Sent> all;
    const std::string bytes = received();
    for (std::size_t at = 0; at + 12 <= bytes.size();) {
      all.push_back({number_at(bytes, at + 4), number_at(bytes, at + 8)});
      at += 4 + static_cast<std::size_t>(number_at(bytes, at));
    }
    return all;
  }
  /// The number of bytes that make the handle's socket readable.
  int least_readable() {
    int least = 0;
    socklen_t size = sizeof least;
    const int socket = client.interest().descriptor;
    REQUIRE(::getsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &least, &size) == 0);
    return least;
  }
  /// Sends this request, and answers it with a body behind the header. Returns its result.
  error_code ask(const Request& request, const std::string& body) {
    constexpr std::uint64_t operation = 77;
    if (const error_code error = client.submit(request, operation, Arms::nothing)) return error;
    const std::vector<Sent> sent = requests();
    REQUIRE(sent.size() == 1);
    say(Jute{}.header(sent.front().xid).raw(body).frame());
    for (const detail::Event& event : client.take_events()) {
      const auto* completed = std::get_if<detail::event::Completed>(&event);
      if (completed != nullptr && completed->operation == operation) return completed->reply.error;
    }
    return Errc::not_connected;
  }
  error_code ask_whether_it_is_there() { return ask(look, Jute{}.stat().bytes()); }

  OwnedSocket server;
  CClient client;
};

TEST_CASE("a handle in a forked child refuses every call, and leaves the parent its session") {
  Talk talk;
  REQUIRE_FALSE(talk.connect());
  REQUIRE(talk.client.state() == HandleState::connected);
  const std::int64_t session = talk.client.session().id;
  CHECK(session == Greeting{}.session);
  // The kernel is asked to wait for the rest of this frame.
  talk.say(ping.substr(0, 7));
  const int least = talk.least_readable();
  REQUIRE(least > 1);

  const std::string wrong = text_of_child([&] {
    std::string found;
    const auto expect = [&](bool holds, std::string_view what) {
      if (!holds) found.append(what) += '\n';
    };
    CClient& client = talk.client;
    expect(client.submit(look, 1, Arms::nothing) == Errc::forked, "submit");
    expect(client.remove_watch("/there", WatchKind::data, 1) == Errc::forked, "remove_watch");
    expect(client.present({"digest", "me:secret"}) == Errc::forked, "present");
    const detail::Interest interest = client.interest();
    expect(interest.error == Errc::forked, "interest");
    expect(interest.timeout >= 1min, "interest: a long wait");
    expect(!client.accepts_ahead(ping), "accepts_ahead");
    expect(client.session().id == 0, "session");
    client.forget_watches({{"/there", WatchKind::data}});
    client.process(true, true);
    client.stop_reading();
    client.close();
    expect(client.take_events().empty(), "events");
    expect(client.hand_over(talk.server.get(), "another") == Errc::forked, "hand_over");
    return found;
  });
  CHECK(wrong.empty());
  // Nothing has been sent or changed, and the parent goes on.
  CHECK(talk.received().empty());
  CHECK(talk.least_readable() == least);
  talk.say(ping.substr(7));
  CHECK_FALSE(talk.ask_whether_it_is_there());
  CHECK(talk.client.session().id == session);
}

TEST_CASE("a handle without a connection refuses requests, and sends none of them later") {
  Talk talk;
  const auto check_refusals = [&] {
    CHECK(talk.client.submit(look, 1, Arms::nothing) == Errc::not_connected);
    CHECK(talk.client.remove_watch("/there", WatchKind::data, 2) == Errc::not_connected);
    CHECK(talk.client.present({"digest", "me:secret"}) == Errc::not_connected);
    CHECK_FALSE(talk.client.accepts_ahead(Greeting{}.frame()));
  };
  check_refusals();
  CHECK(talk.client.interest().error == Errc::not_connected);
  REQUIRE_FALSE(talk.connect(""));
  CHECK(talk.client.state() == HandleState::greeting);
  CHECK(talk.client.submit(look, 1, Arms::nothing) == Errc::not_connected);
  CHECK(talk.client.remove_watch("/there", WatchKind::data, 2) == Errc::not_connected);
  CHECK(talk.client.present({"digest", "me:secret"}) == Errc::not_connected);
  talk.say(Greeting{}.frame());
  CHECK(talk.client.state() == HandleState::connected);
  CHECK(talk.requests().empty());
  CHECK_FALSE(talk.ask_whether_it_is_there());
  talk.server = OwnedSocket{};
  talk.client.process(true, false);
  CHECK_FALSE(talk.client.has_connection());
  check_refusals();
  REQUIRE_FALSE(talk.connect());
  CHECK(talk.requests().empty());
}

TEST_CASE("a handle that is given no socket says so, and takes another one") {
  Talk talk;
  CHECK(talk.client.hand_over(-1, "nobody") == std::errc::bad_file_descriptor);
  CHECK_FALSE(talk.client.has_connection());
  REQUIRE_FALSE(talk.connect());
  CHECK_FALSE(talk.ask_whether_it_is_there());
}

TEST_CASE("a request that the library refuses leaves the replies of the others in order") {
  Talk talk;
  REQUIRE_FALSE(talk.connect());
  const request::Get refused{"no slash", nullptr};
  CHECK(talk.client.submit(refused, 1, Arms::nothing) == ServerErrc::bad_arguments);
  CHECK_FALSE(talk.ask(request::Remove{"/there"}, ""));
  CHECK(talk.client.remove_watch("no slash", WatchKind::data, 2));
  CHECK_FALSE(talk.ask_whether_it_is_there());
  CHECK_FALSE(talk.ask(request::Remove{"/there"}, ""));
  CHECK_FALSE(talk.ask_whether_it_is_there());
}

TEST_CASE("a transaction that the library would refuse does not reach it") {
  Talk talk;
  REQUIRE_FALSE(talk.connect());
  const auto is_refused = [&](request::Multi multi) {
    const error_code error = talk.client.submit(multi, 1, Arms::nothing);
    return error && talk.requests().empty();
  };
  const request::Remove good{"/there"};
  CHECK(is_refused({}));
  CHECK(is_refused({{good, request::Remove{"no slash"}}}));
  CHECK(is_refused({{request::Set{"no slash"}, good}}));
  CHECK(is_refused({{request::Create{.path = "/c", .mode = CreateMode::container}}}));
  CHECK(is_refused(
      {{request::Create{.path = "/t", .mode = CreateMode::persistent_with_ttl, .ttl = 1s}}}));
  const std::string done = Jute{}.number(2).boolean(false).number(0).bytes();
  const std::string end = Jute{}.number(-1).boolean(true).number(-1).bytes();
  CHECK_FALSE(talk.ask(request::Multi{{good}}, done + end));
}

TEST_CASE("a request whose send fails is not sent on the next connection") {
  const auto check = [](const auto& send) {
    // The remaining requests cannot be discarded without two descriptors, and one descriptor is
    // enough to connect.
    for (const bool is_short_of_descriptors : {false, true}) {
      Talk talk;
      REQUIRE_FALSE(talk.connect());
      talk.server = OwnedSocket{};
      send(talk.client);
      CHECK_FALSE(talk.client.has_connection());
      if (is_short_of_descriptors) {
        const FewDescriptors one{1};
        CHECK(talk.client.hand_over(STDIN_FILENO, "x") == std::errc::too_many_files_open);
      }
      REQUIRE_FALSE(talk.connect(""));
      CHECK(talk.received().empty());
      talk.say(Greeting{}.frame());
      CHECK(talk.requests().empty());
      CHECK_FALSE(talk.ask_whether_it_is_there());
    }
  };
  check([](CClient& client) { static_cast<void>(client.submit(look, 1, Arms::nothing)); });
  check([](CClient& client) {
    static_cast<void>(client.remove_watch("/there", WatchKind::data, 1));
  });
}

TEST_CASE("a handle takes no connection while the process has no descriptors, and one later") {
  Talk talk;
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const OwnedSocket theirs{ends[0]};
  talk.server = OwnedSocket{ends[1]};
  {
    const FewDescriptors none{0};
    CHECK(talk.client.hand_over(theirs.get(), "x") == std::errc::too_many_files_open);
    CHECK_FALSE(talk.client.has_connection());
  }
  REQUIRE_FALSE(talk.connect());
  CHECK_FALSE(talk.ask_whether_it_is_there());
}

TEST_CASE("a handle of a process without standard input may get the socket 0") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const OwnedSocket theirs{ends[0]};
  const ClosedInput closed;
  Talk talk;
  talk.server = OwnedSocket{ends[1]};
  CHECK_FALSE(talk.client.hand_over(theirs.get(), "the test"));
  CHECK(talk.client.interest().descriptor == 0);
  CHECK(talk.received().size() > 4);
  talk.say(Greeting{}.frame());
  CHECK_FALSE(talk.ask_whether_it_is_there());
}

}  // namespace
}  // namespace custodian::tests::c_client_test
