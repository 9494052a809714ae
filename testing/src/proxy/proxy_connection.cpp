#include "proxy/proxy_connection.hpp"

#include <fcntl.h>

#include <boost/asio/connect.hpp>
#include <utility>

namespace custodian::testing {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds between_attempts{20};

void prepare(ProxyConnection::Socket& socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

void close_socket(ProxyConnection::Socket& socket, Ending ending) {
  error_code ignored;
  if (ending == Ending::reset) {
    socket.set_option(asio::socket_base::linger{true, 0}, ignored);
  } else {
    socket.shutdown(asio::socket_base::shutdown_both, ignored);
  }
  socket.close(ignored);
}

}  // namespace

ProxyConnection::ProxyConnection(Socket client, ProxyRules& rules, Settings settings)
    : settings_{std::move(settings)},
      rules_{rules},
      client_{std::move(client)},
      server_{client_.get_executor()},
      retry_{client_.get_executor()},
      to_server_{*this, client_, server_, rules.to_server, nullptr, std::move(settings_.edit)},
      to_client_{*this, server_, client_, rules.to_client, &rules.reply_cut, {}} {
  prepare(client_);
  to_server_.open_source();
  to_client_.open_sink();
}

void ProxyConnection::proceed() {
  if (!is_open_) return;
  // A network that is cut delivers no new connections to the server either.
  if (target_ == Target::not_connected && rules_.to_server.mode == FlowRules::Mode::pass) {
    connect_deadline_ = Clock::now() + settings_.connect_patience;
    connect();
  }
  to_server_.proceed();
  if (is_open_) to_client_.proceed();
}

void ProxyConnection::heal() {
  if (to_server_.has_lost_anything() || to_client_.has_lost_anything()) {
    return close(Ending::reset);
  }
  to_server_.hurry();
  to_client_.hurry();
  proceed();
}

void ProxyConnection::connect() {
  target_ = Target::connecting;
  asio::async_connect(server_, settings_.target,
                      [this, keep = shared_from_this()](const error_code& error, const auto&) {
                        if (is_open_) on_connect(error);
                      });
}

void ProxyConnection::on_connect(const error_code& error) {
  if (!error) {
    target_ = Target::connected;
    prepare(server_);
    to_server_.open_sink();
    to_client_.open_source();
    return proceed();
  }
  if (Clock::now() >= connect_deadline_) return close(Ending::reset);
  retry_.expires_after(between_attempts);
  retry_.async_wait([this, keep = shared_from_this()](const error_code&) {
    if (is_open_) connect();
  });
}

void ProxyConnection::settle() {
  if (to_server_.is_finished() && to_client_.is_finished()) return close(Ending::orderly);
  // A peer that has closed its connection answers further bytes with a reset.
  if ((to_server_.is_finished() && to_client_.sink_is_broken()) ||
      (to_client_.is_finished() && to_server_.sink_is_broken())) {
    close(Ending::reset);
  }
}

void ProxyConnection::close(Ending ending) {
  if (!std::exchange(is_open_, false)) return;
  retry_.cancel();
  to_server_.stop();
  to_client_.stop();
  close_socket(client_, ending);
  close_socket(server_, ending);
  settings_.on_close(*this);
}

}  // namespace custodian::testing
