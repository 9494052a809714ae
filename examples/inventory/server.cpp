#include "server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

namespace inventory {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

namespace {

Response answer(const Request& request, http::status status, std::string body,
                const char* type = "application/json") {
  Response response{status, request.version()};
  response.set(http::field::content_type, type);
  response.keep_alive(request.keep_alive());
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

std::string result(std::string_view what) { return R"({"result":")" + std::string{what} + "\"}\n"; }

http::status status_of(Sale sale) {
  switch (sale) {
    case Sale::sold: return http::status::ok;
    case Sale::no_such_item: return http::status::not_found;
    case Sale::out_of_stock: return http::status::conflict;
    case Sale::busy:
    case Sale::locks_unavailable:
    case Sale::lock_lost:
    case Sale::shutting_down: break;
  }
  return http::status::service_unavailable;
}

/// The text behind the prefix; nothing if the text does not begin with it.
std::optional<std::string> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return std::string{text.substr(prefix.size())};
}

/// The number in "pieces=3"; 1 if the query is empty, 0 if there is no such number.
std::int64_t pieces_of(std::string_view query) {
  constexpr std::string_view name = "pieces=";
  if (query.empty()) return 1;
  if (!query.starts_with(name)) return 0;
  query.remove_prefix(name.size());
  std::int64_t pieces = 0;
  const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), pieces);
  const bool is_number = error == std::errc{} && end == query.data() + query.size();
  return is_number && pieces > 0 ? pieces : 0;
}

asio::awaitable<Response> respond(const Request& request, Service service) {
  const std::string target{request.target()};
  const std::size_t mark = target.find('?');
  const std::string path = target.substr(0, mark);
  const std::string query = mark == std::string::npos ? "" : target.substr(mark + 1);

  if (request.method() == http::verb::post) {
    const auto item = after(path, "/orders/");
    const std::int64_t pieces = pieces_of(query);
    if (!item) co_return answer(request, http::status::not_found, result("no_such_page"));
    if (pieces == 0) co_return answer(request, http::status::bad_request, result("how_many"));
    const bool late = service.health.shutting_down();
    const Sale sale = late ? Sale::shutting_down : co_await service.shop.sell(*item, pieces);
    co_return answer(request, status_of(sale), result(to_string(sale)));
  }
  if (const auto item = after(path, "/stock/")) {
    const auto pieces = service.stock.pieces(*item);
    if (!pieces) co_return answer(request, http::status::not_found, result("no_such_item"));
    co_return answer(request, http::status::ok, R"({"pieces":)" + std::to_string(*pieces) + "}\n");
  }
  if (path == "/healthz") co_return answer(request, http::status::ok, result("alive"));
  if (path == "/readyz") {
    const bool ready = service.health.ready();
    co_return answer(request, ready ? http::status::ok : http::status::service_unavailable,
                     result(ready ? "ready" : "not_ready"));
  }
  if (path == "/metrics") {
    if (auto page = service.metrics.page()) {
      co_return answer(request, http::status::ok, std::move(*page), "text/plain; version=0.0.4");
    }
  }
  co_return answer(request, http::status::not_found, result("no_such_page"));
}

asio::awaitable<void> serve_one(beast::tcp_stream stream, Service service) {
  beast::flat_buffer buffer;
  for (bool go_on = true; go_on;) {
    stream.expires_after(std::chrono::seconds{30});
    Request request;
    co_await http::async_read(stream, buffer, request, asio::use_awaitable);
    Response response;
    std::exception_ptr failure;
    try {
      response = co_await respond(request, service);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      response = answer(request, http::status::internal_server_error, result("failed"));
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        std::cerr << request.target() << ": " << error.what() << '\n';
      }
    }
    go_on = response.keep_alive() && !service.health.shutting_down();
    response.keep_alive(go_on);
    co_await http::async_write(stream, response, asio::use_awaitable);
  }
  boost::system::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

asio::awaitable<void> serve(tcp::acceptor& acceptor, Service service) {
  while (acceptor.is_open()) {
    tcp::socket socket{asio::make_strand(acceptor.get_executor())};
    boost::system::error_code error;
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) continue;
    const auto executor = socket.get_executor();
    // The result is ignored (`detached`): a connection that fails does not affect the others.
    asio::co_spawn(executor, serve_one(beast::tcp_stream{std::move(socket)}, service),
                   asio::detached);
  }
}

}  // namespace inventory
