#pragma once

/// \file
/// HttpServer answers GET and HEAD, and streams events. It knows sockets and limits; guards and
/// routes decide what is answered.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "http/http_guard.hpp"
#include "http/http_message.hpp"
#include "http/http_target.hpp"
#include "http/listen_address.hpp"

namespace custodian::cli {

/// Events for one browser, as text/event-stream, until the browser goes away.
struct HttpEvents {
  /// The next event, complete; null ends the stream. Cancelled when the browser has gone.
  std::function<boost::asio::awaitable<std::shared_ptr<const std::string>>()> next{};
};

using HttpAnswer = std::variant<HttpResponse, HttpEvents>;

/// The content of a server.
struct HttpSite {
  HttpGuard guard{};
  /// Answers a request that the guard lets pass. An exception is answered with 500.
  std::function<boost::asio::awaitable<HttpAnswer>(HttpTarget)> answer{};
};

struct HttpLimits {
  std::size_t connections = 512;     ///< more are closed at once
  std::uint32_t header = 8 * 1024;   ///< bytes of a request's line and headers
  std::uint64_t body = 4096;         ///< bytes of a body, which nothing here reads
  std::chrono::seconds request{15};  ///< for a request to arrive, and between two requests
  std::chrono::seconds write{30};    ///< for a browser to take a response, or an event
};

/// Threads: the context's, of which there must be one. The server listens from its construction on,
/// and accepts nothing before start(). Its connections may outlive the server, but not the context.
class HttpServer {
 public:
  /// Throws UsageError if it cannot listen there.
  HttpServer(boost::asio::io_context& context, const ListenAddress& where, HttpSite site,
             HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// The address at which the server listens, with the port in use.
  [[nodiscard]] ListenAddress where() const;
  void start();
  /// Accepts no more connections, closes those that are idle, and ends streams of events. A
  /// response under way is finished.
  void stop();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace custodian::cli
