#include "http/http_server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "cli/http_client.hpp"
#include "options/usage_error.hpp"

namespace custodian::tests::http_server_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;
namespace asio = boost::asio;

asio::awaitable<std::shared_ptr<const std::string>> next_event(std::shared_ptr<int> count) {
  if (++*count > 3) co_return nullptr;
  co_return std::make_shared<const std::string>("data: " + std::to_string(*count) + "\n\n");
}

asio::awaitable<std::shared_ptr<const std::string>> no_event(
    [[maybe_unused]] std::shared_ptr<void> browser) {
  asio::steady_timer never{co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max()};
  co_await never.async_wait(asio::use_awaitable);
  co_return nullptr;
}

asio::awaitable<HttpAnswer> answer(HttpTarget target, std::weak_ptr<void>* browser) {
  if (target.path == "/throws") throw std::runtime_error{"as asked"};
  if (target.path == "/events") {
    co_return HttpEvents{[count = std::make_shared<int>()] { return next_event(count); }};
  }
  if (target.path == "/silent") {
    const auto there = std::make_shared<int>();
    *browser = there;
    co_return HttpEvents{[there] { return no_event(there); }};
  }
  co_return HttpResponse{.type = "text/plain", .body = "at " + target.path};
}

/// A server whose context a thread runs.
class Running {
 public:
  explicit Running(HttpLimits limits = {})
      : server_{context_, parse_listen_address("127.0.0.1:0"), site(), limits} {
    server_.start();
    port_ = server_.where().port;
    thread_ = std::jthread{[this] { context_.run(); }};
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    stop();
    work_.reset();
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void stop() {
    asio::post(context_, [this] { server_.stop(); });
  }
  /// Whether the browser of /silent is connected.
  [[nodiscard]] bool has_browser() {
    std::promise<bool> there;
    asio::post(context_, [&] { there.set_value(!browser_.expired()); });
    return there.get_future().get();
  }

 private:
  HttpSite site() {
    return {.answer = [this](HttpTarget target) { return answer(std::move(target), &browser_); }};
  }

  asio::io_context context_{1};
  /// After the server has stopped, the thread still runs the context, for has_browser().
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::weak_ptr<void> browser_;
  HttpServer server_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

const std::string host = "Host: localhost\r\n";

}  // namespace

TEST_CASE("a server answers on one connection again and again, with strict headers") {
  Running server;
  HttpConnection connection{server.port()};
  for (const char* path : {"/a", "/b"}) {
    connection.send(std::string{"GET "} + path + " HTTP/1.1\r\n" + host + "\r\n");
    CHECK(connection.line() == "HTTP/1.1 200 OK");
    std::string head;
    for (std::string line; !(line = connection.line()).empty();) head += line + "\n";
    CHECK(has_text(head, "Content-Security-Policy: default-src 'none'"));
    CHECK(has_text(head, "Content-Length: 5\n"));
    CHECK(connection.bytes(5) == std::string{"at "} + path);
  }
}

TEST_CASE("a HEAD has the length of a GET, and no body") {
  Running server;
  HttpConnection connection{server.port()};
  connection.send("HEAD /a HTTP/1.1\r\nConnection: close\r\n" + host + "\r\n");
  const HttpReply reply = connection.reply();
  CHECK(reply.status == 200);
  CHECK(has_text(reply.head, "Content-Length: 5"));
  CHECK(reply.body.empty());
}

TEST_CASE("a request that is refused ends its connection") {
  Running server;
  const auto reply_to = [&](const std::string& request) {
    HttpConnection connection{server.port()};
    connection.send(request);
    return connection.reply();
  };
  CHECK(reply_to("POST /a HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nx").status == 405);
  CHECK(reply_to("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 421);
  CHECK(reply_to("GET /a HTTP/1.1\r\n\r\n").status == 400);
  CHECK(reply_to("GET /%zz HTTP/1.1\r\n" + host + "\r\n").status == 400);
  CHECK(reply_to("what is this\r\n\r\n").status == 400);
  const HttpReply refused = reply_to("PUT /a HTTP/1.1\r\n" + host + "\r\n");
  CHECK(has_text(refused.head, "Allow: GET, HEAD"));
  CHECK(has_text(refused.head, "X-Content-Type-Options: nosniff"));
}

TEST_CASE("a request that is too long is refused, and read no further") {
  Running server{{.header = 1024, .body = 100}};
  CHECK(http_get(server.port(), "/" + std::string(900, 'a')).status == 200);
  CHECK(http_get(server.port(), "/" + std::string(2000, 'a')).status == 431);
  CHECK(http_get(server.port(), "/a", host + "X: " + std::string(2000, 'a') + "\r\n").status ==
        431);
  HttpConnection connection{server.port()};
  connection.send("GET /a HTTP/1.1\r\n" + host + "Content-Length: 101\r\n\r\n");
  CHECK(connection.reply().status == 413);
}

TEST_CASE("a connection that says nothing, or half a request, is closed after a time") {
  Running server{{.request = 1s}};
  HttpConnection silent{server.port()};
  HttpConnection slow{server.port()};
  slow.send("GET /a HTTP/1.1\r\nHost: loc");
  CHECK(silent.rest().empty());
  CHECK(silent.has_ended());
  CHECK(slow.rest().empty());
  CHECK(slow.has_ended());
}

TEST_CASE("more connections than a server has places for are closed at once") {
  Running server{{.connections = 2}};
  HttpConnection one{server.port()};
  HttpConnection two{server.port()};
  const std::string request = "GET /a HTTP/1.1\r\n" + host + "\r\n";
  one.send(request);
  CHECK(one.line() == "HTTP/1.1 200 OK");
  two.send(request);
  CHECK(two.line() == "HTTP/1.1 200 OK");
  HttpConnection three{server.port()};
  three.send(request);
  CHECK(three.rest().empty());
}

TEST_CASE("an answer that throws is a failure of this request alone") {
  Running server;
  const HttpReply reply = http_get(server.port(), "/throws");
  CHECK(reply.status == 500);
  CHECK_FALSE(has_text(reply.body, "as asked"));
  CHECK(http_get(server.port(), "/a").status == 200);
}

TEST_CASE("events are sent one by one until there is none") {
  Running server;
  const HttpReply reply = http_get(server.port(), "/events");
  CHECK(reply.status == 200);
  CHECK(has_text(reply.head, "Content-Type: text/event-stream"));
  CHECK(reply.body == "data: 1\n\ndata: 2\n\ndata: 3\n\n");
}

TEST_CASE("a browser that goes away ends its stream, and nothing is left of it") {
  Running server;
  {
    HttpConnection browser{server.port()};
    browser.send("GET /silent HTTP/1.1\r\n" + host + "\r\n");
    CHECK(browser.line() == "HTTP/1.1 200 OK");
    CHECK(server.has_browser());
  }
  CHECK(eventually([&] { return !server.has_browser(); }));
}

TEST_CASE("a server that stops ends what is idle, and streams of events") {
  Running server;
  HttpConnection idle{server.port()};
  idle.send("GET /a HTTP/1.1\r\n" + host + "\r\n");
  CHECK(idle.line() == "HTTP/1.1 200 OK");
  HttpConnection browser{server.port()};
  browser.send("GET /silent HTTP/1.1\r\n" + host + "\r\n");
  CHECK(browser.line() == "HTTP/1.1 200 OK");
  server.stop();
  CHECK(has_text(idle.rest(), "at /a"));
  static_cast<void>(browser.rest());
  CHECK(eventually([&] { return !server.has_browser(); }));
}

TEST_CASE("a port that another server has is a mistake in the command line") {
  Running server;
  asio::io_context context;
  const ListenAddress taken = parse_listen_address("127.0.0.1:" + std::to_string(server.port()));
  CHECK_THROWS_AS((HttpServer{context, taken, {}}), UsageError);
}

}  // namespace custodian::tests::http_server_test
