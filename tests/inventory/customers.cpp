#include "customers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <random>
#include <utility>

namespace custodian::tests::inventory {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;

Answer ask(std::uint16_t port, const std::string& verb, const std::string& target) {
  Answer answer;
  asio::io_context context;
  beast::tcp_stream stream{context};
  http::request<http::empty_body> request{http::string_to_verb(verb), target, 11};
  request.set(http::field::host, "localhost");
  request.keep_alive(false);
  request.prepare_payload();
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  const auto on_read = [&](boost::system::error_code error, std::size_t) {
    if (!error) answer = {response.result_int(), response.body()};
  };
  const auto on_written = [&](boost::system::error_code error, std::size_t) {
    if (!error) http::async_read(stream, buffer, response, on_read);
  };
  const auto on_connected = [&](boost::system::error_code error) {
    if (!error) http::async_write(stream, request, on_written);
  };
  stream.expires_after(3s);
  stream.async_connect({asio::ip::address_v4::loopback(), port}, on_connected);
  context.run();
  return answer;
}

Customers::Customers(int count, std::vector<std::string> items) : items_{std::move(items)} {
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([this, seed = static_cast<unsigned>(i) + 1](const std::stop_token& stop) {
      buy(seed, stop);
    });
  }
}

void Customers::go_to(std::vector<std::uint16_t> ports) {
  const std::lock_guard lock{mutex_};
  ports_ = std::move(ports);
}

std::int64_t Customers::told(const std::string& result) const {
  const std::lock_guard lock{mutex_};
  const auto found = told_.find(result);
  return found == told_.end() ? 0 : found->second;
}

void Customers::stop() { threads_.clear(); }

void Customers::buy(unsigned seed, const std::stop_token& stop) {
  std::minstd_rand random{seed};
  while (!stop.stop_requested()) {
    std::uint16_t port = 0;
    {
      const std::lock_guard lock{mutex_};
      if (!ports_.empty()) port = ports_[random() % ports_.size()];
    }
    const Answer answer =
        port == 0 ? Answer{} : ask(port, "POST", "/orders/" + items_[random() % items_.size()]);
    if (answer.status == 0) std::this_thread::sleep_for(20ms);
    const auto begin = answer.body.find(":\"");
    const std::string result =
        begin == std::string::npos
            ? "nobody"
            : answer.body.substr(begin + 2, answer.body.find('"', begin + 2) - begin - 2);
    const std::lock_guard lock{mutex_};
    ++told_[result];
  }
}

}  // namespace custodian::tests::inventory
