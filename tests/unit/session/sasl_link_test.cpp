// A plain link that authenticates, between the test's server and a socket in the place of the C
// client's.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "session/stream_link.hpp"
#include "support/catch.hpp"
#include "support/jute.hpp"
#include "unit/session/run_until.hpp"

namespace custodian::tests::sasl_link_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using detail::SaslClient;
using detail::StreamLink;
using namespace std::chrono_literals;

/// A mechanism of one round.
class Question final : public SaslClient {
 public:
  std::string_view mechanism() const noexcept override { return "TEST"; }
  const std::string& first() const noexcept override { return first_; }
  std::optional<std::string> respond(std::string_view challenge) override {
    if (challenge == "more") return "here";
    return std::nullopt;
  }

 private:
  const std::string first_{"it is me"};
};

/// A mechanism whose begin() waits until the test sets the promise.
class Waiting final : public detail::Sasl {
 public:
  explicit Waiting(std::shared_future<std::string> reason) : reason_{std::move(reason)} {}

  Begun begin(const detail::Address&) const override {
    const std::string reason = reason_.get();
    if (!reason.empty()) return {nullptr, reason};
    return {std::make_unique<Question>(), {}};
  }
  std::string preparation(const detail::Address&) const override { return "a question"; }

 private:
  const std::shared_future<std::string> reason_;
};

struct Linked {
  Linked() {
    tcp::acceptor acceptor{context, {asio::ip::address_v4::loopback(), 0}};
    tcp::socket socket{context};
    socket.connect(acceptor.local_endpoint());
    acceptor.accept(server);
    link = std::make_shared<StreamLink>(
        detail::make_plain_stream(detail::TcpStream{std::move(socket)}),
        std::make_shared<const Waiting>(reason.get_future().share()), detail::Address{});
    link->open([&](error_code error, std::string why, detail::OwnedSocket end) {
      opened.emplace(error, std::move(why));
      if (!error) client.assign(asio::local::stream_protocol{}, end.release());
    });
  }
  /// A link that is open, with the handshake on its way.
  static std::unique_ptr<Linked> greeting() {
    auto linked = std::make_unique<Linked>();
    linked->reason.set_value("");
    linked->run_until([&] { return linked->opened.has_value(); });
    asio::write(linked->client, asio::buffer(std::string{"handshake"}));
    CHECK(linked->hear(linked->server, 9) == "handshake");
    return linked;
  }

  template <typename Done>
  void run_until(const Done& done) {
    tests::run_until(context, done);
  }
  void run_for(std::chrono::milliseconds time) {
    context.restart();
    context.run_for(time);
  }
  /// Reads `size` bytes, or less if the connection ends before.
  template <typename Socket>
  std::string hear(Socket& socket, std::size_t size) {
    std::string bytes(size, '\0');
    std::optional<std::size_t> count;
    asio::async_read(socket, asio::buffer(bytes),
                     [&](error_code, std::size_t read) { count = read; });
    run_until([&] { return count.has_value(); });
    bytes.resize(*count);
    return bytes;
  }
  void expect_request(std::int32_t number, const std::string& token) {
    const std::string request = Jute{}.number(number).number(102).string(token).frame();
    CHECK(hear(server, request.size()) == request);
  }
  void say(const std::string& bytes) { asio::write(server, asio::buffer(bytes)); }
  void let_it_end() {
    const std::weak_ptr<StreamLink> weak = std::exchange(link, nullptr);
    run_until([&] { return weak.expired(); });
  }

  asio::io_context context{1};
  std::promise<std::string> reason;
  tcp::socket server{context};
  std::shared_ptr<StreamLink> link;
  std::optional<std::pair<error_code, std::string>> opened;
  asio::local::stream_protocol::socket client{context};
};

std::string reply(std::int32_t number, const std::string& token) {
  return Jute{}.header(number).string(token).frame();
}

TEST_CASE("the answer to the handshake is held back until the client is authenticated",
          "[sasl_link]") {
  const auto linked = Linked::greeting();
  // The link does not wait for the answer to the handshake, which is not part of SASL.
  CHECK(linked->link->waits_for().empty());
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  CHECK(linked->link->waits_for() == "SASL (TEST)");
  linked->say(reply(1, "more"));
  linked->expect_request(2, "here");
  linked->run_for(20ms);
  CHECK(linked->client.available() == 0);
  // The bytes after the last reply are for the client.
  linked->say(reply(2, "") + "\1\2");
  const std::string greeting = Greeting{}.frame();
  CHECK(linked->hear(linked->client, greeting.size()) == greeting);
  CHECK(linked->link->waits_for().empty());
  CHECK(linked->link->proof() == StreamLink::Proof::none_needed);
  const std::string frame = Jute{}.string("later").bytes();
  asio::write(linked->client, asio::buffer(frame));
  CHECK(linked->hear(linked->server, frame.size()) == frame);
  linked->link->abort();
  linked->let_it_end();
}

TEST_CASE("a link whose server refuses the client ends, and says so", "[sasl_link]") {
  const auto linked = Linked::greeting();
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  linked->say(Jute{}.header(1, -115).number(-1).frame());
  CHECK(linked->hear(linked->client, 1).empty());
  CHECK(linked->link->proof() == StreamLink::Proof::refused);
  CHECK(linked->link->fault().starts_with("SASL (TEST): the server refuses this identity"));
  linked->let_it_end();
}

TEST_CASE("a link whose server ends the exchange says so", "[sasl_link]") {
  const auto linked = Linked::greeting();
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  linked->server.close();
  CHECK(linked->hear(linked->client, 1).empty());
  CHECK(linked->link->proof() == StreamLink::Proof::wanted);
  CHECK(linked->link->fault() == "SASL (TEST): the server ended the connection");
  linked->let_it_end();
}

TEST_CASE("a server that ends the connection before its answer is none of SASL's business",
          "[sasl_link]") {
  const auto linked = Linked::greeting();
  linked->server.close();
  CHECK(linked->hear(linked->client, 1).empty());
  CHECK(linked->link->fault().empty());
  linked->let_it_end();
}

TEST_CASE("a session that the server has not authenticated lacks a proof", "[sasl_link]") {
  const auto linked = Linked::greeting();
  CHECK(linked->link->proof() == StreamLink::Proof::none_needed);
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  CHECK(linked->link->proof() == StreamLink::Proof::wanted);
  linked->say(Jute{}.header(1, -1).number(-1).frame());
  CHECK(linked->hear(linked->client, 1).empty());
  CHECK(linked->link->proof() == StreamLink::Proof::failed);
  linked->let_it_end();
}

TEST_CASE("a client that does not wait for the exchange ends the link", "[sasl_link]") {
  const auto linked = Linked::greeting();
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  asio::write(linked->client, asio::buffer(std::string(49, 'r')));
  CHECK(linked->hear(linked->server, 1).empty());
  CHECK(linked->link->fault() == "SASL (TEST): the C client does not wait for it");
  linked->let_it_end();
}

/// A server that has said `words`, and can then neither be read nor written to any more.
class Deaf final : public detail::ServerStream {
 public:
  Deaf(asio::any_io_executor executor, std::string words)
      : executor_{std::move(executor)}, words_{std::move(words)} {}

  asio::any_io_executor get_executor() override { return executor_; }
  std::string_view opening() const noexcept override { return ""; }
  void open(Opened opened) override {
    asio::post(executor_, [opened = std::move(opened)] { opened({}, {}); });
  }
  void read_some(asio::mutable_buffer buffer, Done done) override {
    const std::size_t count = asio::buffer_copy(buffer, asio::buffer(words_));
    words_.erase(0, count);
    if (count == 0) {
      read_ = std::move(done);
    } else {
      asio::post(executor_, [done = std::move(done), count] { done({}, count); });
    }
  }
  void write(asio::const_buffer, Done done) override {
    asio::post(executor_, [done = std::move(done)] { done(asio::error::broken_pipe, 0); });
  }
  void shut_down(std::function<void()> done) override { asio::post(executor_, std::move(done)); }
  void close() override { read_ = nullptr; }
  void reset() override {}
  std::string fault_of(error_code) override { return {}; }

 private:
  const asio::any_io_executor executor_;
  std::string words_;
  Done read_;
};

TEST_CASE("a link whose server takes nothing more within the exchange says so", "[sasl_link]") {
  asio::io_context context{1};
  std::promise<std::string> reason;
  reason.set_value("");
  auto link = std::make_shared<StreamLink>(
      std::make_unique<Deaf>(context.get_executor(), Greeting{}.frame()),
      std::make_shared<const Waiting>(reason.get_future().share()), detail::Address{});
  detail::OwnedSocket end;
  link->open(
      [&](error_code, const std::string&, detail::OwnedSocket socket) { end = std::move(socket); });
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (link->fault().empty()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    context.restart();
    context.run_for(10ms);
  }
  CHECK(link->fault() == "SASL (TEST): the server ended the connection");
}

TEST_CASE("a client that closes within the exchange ends the link", "[sasl_link]") {
  const auto linked = Linked::greeting();
  linked->say(Greeting{}.frame());
  linked->expect_request(1, "it is me");
  linked->client.close();
  CHECK(linked->hear(linked->server, 1).empty());
  linked->let_it_end();
}

TEST_CASE("nothing is sent to a server before the first token is there", "[sasl_link]") {
  Linked linked;
  linked.run_for(20ms);
  CHECK_FALSE(linked.opened);
  CHECK(linked.link->waits_for() == "a question");
  CHECK(linked.server.available() == 0);
  SECTION("and nothing at all without it") {
    linked.reason.set_value("none today");
    linked.run_until([&] { return linked.opened.has_value(); });
    CHECK(linked.opened->first);
    CHECK(linked.opened->second == "none today");
    CHECK(linked.hear(linked.server, 1).empty());
    linked.let_it_end();
  }
  SECTION("and a link that is aborted does not wait for it") {
    linked.link->abort();
    linked.let_it_end();
    CHECK_FALSE(linked.opened);
    linked.reason.set_value("");
  }
}

}  // namespace
}  // namespace custodian::tests::sasl_link_test
