#include "fenced_register.hpp"

#include <fcntl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "token.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;

namespace custodian::chaos {
namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct FencedRegister::Impl {
  asio::io_context context{1};
  tcp::acceptor acceptor{context, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
  std::uint16_t port = acceptor.local_endpoint().port();
  std::map<std::string, Token> largest;
  std::thread thread;

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(tcp::socket socket);
  [[nodiscard]] std::string take(const std::string& line);
};

asio::awaitable<void> FencedRegister::Impl::accept() {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error) co_return;
    // A worker that is started later must not inherit the connection of a worker that was killed.
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    asio::co_spawn(context, serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> FencedRegister::Impl::serve(tcp::socket socket) {
  std::string received;
  for (;;) {
    auto buffer = asio::dynamic_buffer(received);
    const auto [read_error, size] =
        co_await asio::async_read_until(socket, buffer, '\n', as_result);
    if (read_error) co_return;
    const std::string answer = take(received.substr(0, size));
    received.erase(0, size);
    const auto bytes = asio::buffer(answer);
    const auto [write_error, written] = co_await asio::async_write(socket, bytes, as_result);
    if (write_error) co_return;
  }
}

std::string FencedRegister::Impl::take(const std::string& line) {
  std::istringstream words{line};
  std::string lock;
  std::string text;
  words >> lock >> text;
  const auto token = parse_token(text);
  Token& seen = largest[lock];
  if (!token || *token < seen) return "refused\n";
  seen = *token;
  return "landed\n";
}

FencedRegister::FencedRegister() : impl_{std::make_unique<Impl>()} {
  asio::co_spawn(impl_->context, impl_->accept(), asio::detached);
  impl_->thread = std::thread{[impl = impl_.get()] { impl->context.run(); }};
}

FencedRegister::~FencedRegister() {
  impl_->context.stop();
  impl_->thread.join();
}

std::uint16_t FencedRegister::port() const noexcept { return impl_->port; }

}  // namespace custodian::chaos
