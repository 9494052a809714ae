#include "http/http_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <list>
#include <utility>
#include <vector>

#include "options/messages.hpp"
#include "options/usage_error.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace custodian::cli {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

tcp::acceptor listening(asio::io_context& context, const ListenAddress& where) {
  try {
    return tcp::acceptor{context, {where.address, where.port}};
  } catch (const boost::system::system_error& error) {
    throw UsageError{"cannot listen at " + url_of(where) + ": " + error.code().message()};
  }
}

HttpRequest request_of(const http::request<http::string_body>& message) {
  HttpRequest request{.method = std::string{message.method_string()},
                      .target = std::string{message.target()},
                      .authorization = std::string{message[http::field::authorization]}};
  const auto [begin, end] = message.equal_range(http::field::host);
  for (auto each = begin; each != end; ++each) request.hosts.emplace_back(each->value());
  return request;
}

/// The refusal of bytes that are no request; nothing if the client has gone, and would not read it.
std::optional<HttpResponse> refusal_of_unread(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refusal_of(431, "this request is too long");
  }
  if (error == http::error::body_limit) return refusal_of(413, "this request is too long");
  const bool nobody = error == http::error::end_of_stream || error == http::error::partial_message;
  if (nobody || error.category() != make_error_code(http::error::bad_method).category()) {
    return std::nullopt;
  }
  return refusal_of(400, "this is no request");
}

template <typename Body>
http::response<Body> head_of(int status, unsigned version, const std::string& type) {
  http::response<Body> head{static_cast<http::status>(status), version};
  head.set(http::field::content_type, type);
  for (const auto& [name, value] : strict_headers()) head.set(name, value);
  return head;
}

}  // namespace

class HttpServer::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& context, const ListenAddress& where, HttpSite site, HttpLimits limits)
      : acceptor_{listening(context, where)}, site_{std::move(site)}, limits_{limits} {}

  [[nodiscard]] ListenAddress where() const {
    const tcp::endpoint local = acceptor_.local_endpoint();
    return {local.address(), local.port()};
  }
  void start() {
    asio::co_spawn(acceptor_.get_executor(), accept(shared_from_this()), &State::on_end);
  }
  void stop() {
    is_stopping_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    for (Connection& each : connections_) {
      if (!each.is_answering) each.stream.close();
      // A wait that begins later ends at once, too.
      each.ending.expires_at(asio::steady_timer::time_point::min());
    }
  }

 private:
  struct Connection {
    explicit Connection(tcp::socket socket)
        : stream{std::move(socket)}, ending{stream.get_executor()} {
      ending.expires_at(asio::steady_timer::time_point::max());
    }

    beast::tcp_stream stream;
    beast::flat_buffer buffer{};
    /// Expires at the server's end, which ends a stream of events.
    asio::steady_timer ending;
    bool is_answering = false;
  };
  using Place = std::list<Connection>::iterator;

  /// Called at the end of a coroutine. Prints the exception, if there is one.
  static void on_end(const std::exception_ptr& failure) {
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      say(std::string{"an HTTP connection failed: "} + error.what());
    }
  }

  static asio::awaitable<void> accept(std::shared_ptr<State> self) {
    while (!self->is_stopping_) {
      auto [error, socket] =
          co_await self->acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
      if (error == asio::error::operation_aborted) co_return;
      if (error) {
        // Most likely no descriptor is free. One may become free soon.
        asio::steady_timer pause{self->acceptor_.get_executor(), std::chrono::milliseconds{100}};
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        continue;
      }
      if (self->connections_.size() >= self->limits_.connections) continue;
      self->connections_.emplace_back(std::move(socket));
      const Place place = std::prev(self->connections_.end());
      asio::co_spawn(self->acceptor_.get_executor(), serve(self, place),
                     [self, place](const std::exception_ptr& failure) {
                       self->connections_.erase(place);
                       on_end(failure);
                     });
    }
  }

  static asio::awaitable<void> serve(std::shared_ptr<State> self, Place place) {
    Connection& connection = *place;
    for (bool goes_on = true; goes_on && !self->is_stopping_;) {
      http::request_parser<http::string_body> parser;
      parser.header_limit(self->limits_.header);
      parser.body_limit(self->limits_.body);
      connection.is_answering = false;
      connection.stream.expires_after(self->limits_.request);
      const auto [error, bytes] = co_await http::async_read(
          connection.stream, connection.buffer, parser, asio::as_tuple(asio::use_awaitable));
      connection.is_answering = true;
      if (error) {
        if (auto refusal = refusal_of_unread(error)) {
          co_await self->write(connection, std::move(*refusal), {.version = 11});
        }
        break;
      }
      goes_on = co_await self->answer(connection, parser.get());
    }
    error_code ignored;
    connection.stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  /// How a response is written.
  struct Manner {
    unsigned version = 11;
    bool is_head = false;
    bool keeps_alive = false;
  };

  /// Returns whether the connection serves another request.
  asio::awaitable<bool> answer(Connection& connection,
                               const http::request<http::string_body>& message) {
    const HttpRequest request = request_of(message);
    const auto target = parse_target(request.target);
    const Manner manner{.version = message.version(),
                        .is_head = message.method() == http::verb::head,
                        .keeps_alive = message.keep_alive()};
    auto refusal = refusal_of(site_.guard, request, target);
    // A refused request may be of any kind, so its connection ends.
    if (refusal) {
      co_return co_await write(connection, std::move(*refusal), {manner.version, manner.is_head});
    }
    HttpAnswer answer = co_await answer_of(*target);
    if (auto* events = std::get_if<HttpEvents>(&answer)) {
      if (!manner.is_head) co_await stream(connection, std::move(*events), manner);
      co_return false;
    }
    co_return co_await write(connection, std::move(std::get<HttpResponse>(answer)), manner);
  }

  asio::awaitable<HttpAnswer> answer_of(const HttpTarget& target) {
    try {
      co_return co_await site_.answer(target);
    } catch (const std::exception& error) {
      say("cannot answer " + target.path + ": " + error.what());
    }
    co_return refusal_of(500, "this failed");
  }

  asio::awaitable<bool> write(Connection& connection, HttpResponse response, Manner manner) {
    auto message = head_of<http::string_body>(response.status, manner.version, response.type);
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.keep_alive(manner.keeps_alive && !is_stopping_);
    message.content_length(response.body.size());
    message.body() = std::move(response.body);
    http::response_serializer<http::string_body> serializer{message};
    connection.stream.expires_after(limits_.write);
    // The answer to HEAD has the headers of the answer to GET, with its length.
    const auto [error, bytes] =
        manner.is_head ? co_await http::async_write_header(connection.stream, serializer,
                                                           asio::as_tuple(asio::use_awaitable))
                       : co_await http::async_write(connection.stream, serializer,
                                                    asio::as_tuple(asio::use_awaitable));
    co_return !error && message.keep_alive();
  }

  asio::awaitable<void> stream(Connection& connection, HttpEvents events, Manner manner) {
    using namespace asio::experimental::awaitable_operators;
    auto message = head_of<http::empty_body>(200, manner.version, "text/event-stream");
    // Without a length, and without chunks, the stream ends with its connection.
    message.keep_alive(false);
    http::response_serializer<http::empty_body> serializer{message};
    connection.stream.expires_after(limits_.write);
    auto [error, bytes] = co_await http::async_write_header(connection.stream, serializer,
                                                            asio::as_tuple(asio::use_awaitable));
    while (!error && !is_stopping_) {
      connection.stream.expires_never();
      // A browser sends nothing more: if the socket becomes readable, the browser has gone.
      auto first = co_await (events.next() ||
                             connection.stream.socket().async_wait(
                                 tcp::socket::wait_read, asio::as_tuple(asio::use_awaitable)) ||
                             connection.ending.async_wait(asio::as_tuple(asio::use_awaitable)));
      const auto* event = std::get_if<0>(&first);
      if (event == nullptr || *event == nullptr) co_return;
      connection.stream.expires_after(limits_.write);
      std::tie(error, bytes) = co_await asio::async_write(connection.stream, asio::buffer(**event),
                                                          asio::as_tuple(asio::use_awaitable));
    }
  }

  tcp::acceptor acceptor_;
  const HttpSite site_;
  const HttpLimits limits_;
  std::list<Connection> connections_;
  bool is_stopping_ = false;
};

HttpServer::HttpServer(asio::io_context& context, const ListenAddress& where, HttpSite site,
                       HttpLimits limits)
    : state_{std::make_shared<State>(context, where, std::move(site), limits)} {}

HttpServer::~HttpServer() { state_->stop(); }

ListenAddress HttpServer::where() const { return state_->where(); }

void HttpServer::start() { state_->start(); }

void HttpServer::stop() { state_->stop(); }

}  // namespace custodian::cli
