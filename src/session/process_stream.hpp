#pragma once

/// \file
/// ProcessStream is a stream over a connected socket that only the process that made it can use.
///
/// Asio's own sockets are read by any process that runs their context. The child of a fork that
/// does so would take bytes that its parent needs, and would go on with TLS keys that its parent
/// uses, too. And a connection that the parent closes would stay open as long as the child has a
/// copy.

#include <sys/socket.h>
#include <sys/types.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/socket_base.hpp>
#include <cstddef>
#include <utility>

#include "base/process_id.hpp"
#include "custodian/error.hpp"
#include "session/owned_socket.hpp"

namespace custodian::detail {

/// An AsyncStream, as Asio defines it, over a stream socket. In a child, nothing is read or
/// written: an operation ends with `operation_aborted`. Used on one strand.
template <typename Socket>
class ProcessStream {
 public:
  using executor_type = typename Socket::executor_type;
  using lowest_layer_type = Socket;

  explicit ProcessStream(Socket socket) : socket_{std::move(socket)} {}

  [[nodiscard]] executor_type get_executor() { return socket_.get_executor(); }
  [[nodiscard]] Socket& lowest_layer() { return socket_; }
  [[nodiscard]] const Socket& lowest_layer() const { return socket_; }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return transfer<Way::in>(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return transfer<Way::out>(buffers, std::forward<Token>(token));
  }

  /// Makes Asio forget that it has waited for output on this socket, as it does to connect.
  /// Otherwise Asio's loop would turn once more for each wait for input, because the socket has
  /// room for output. (A write that has to wait makes Asio remember again.)
  error_code forget_wait_for_output(const typename Socket::protocol_type& protocol) {
    // The child of a fork shares the registration with its parent.
    if (!is_ours()) return boost::asio::error::operation_aborted;
    error_code error;
    OwnedSocket same{socket_.release(error)};
    if (error) return error;
    socket_.assign(protocol, same.get(), error);
    if (!error) static_cast<void>(same.release());
    return error;
  }

  /// Ends the connection in both directions, whatever copies children have. The kernel still sends
  /// what was written.
  void close() {
    error_code ignored;
    if (is_ours()) socket_.shutdown(boost::asio::socket_base::shutdown_both, ignored);
    socket_.close(ignored);
  }
  /// Ends the connection at once. Bytes that the kernel has not sent yet are dropped.
  void reset() {
    if (is_ours() && socket_.is_open()) {
      sockaddr nobody{};
      nobody.sa_family = AF_UNSPEC;
      // Connecting to no address ends the connection. Unlike the last close with SO_LINGER, it does
      // not wait for the copies in children.
      [[maybe_unused]] const int ended = ::connect(socket_.native_handle(), &nobody, sizeof nobody);
    }
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  enum class Way : bool { in, out };

  template <Way Wanted, typename Buffers>
  struct Transfer {
    ProcessStream& stream;
    Buffers buffers;
    bool waited = false;
    bool ended = false;
    error_code result{};
    std::size_t count = 0;

    template <typename Self>
    void operator()(Self& self, error_code failed = {}) {
      if (ended) return self.complete(result, count);
      if (failed) return self.complete(failed, 0);
      // Output has room almost always, so a write is tried before the wait. Input is there almost
      // never; but an empty read, which TLS makes when it has a result at once, must not wait.
      const bool tries_first = Wanted == Way::out || boost::asio::buffer_size(buffers) == 0;
      if ((waited || tries_first) && !stream.would_block(*this)) {
        if (waited) return self.complete(result, count);
        ended = true;
        auto executor = stream.get_executor();
        return boost::asio::post(executor, std::move(self));
      }
      waited = true;
      stream.socket_.async_wait(Wanted == Way::in ? Socket::wait_read : Socket::wait_write,
                                std::move(self));
    }
  };

  template <Way Wanted, typename Buffers, typename Token>
  auto transfer(const Buffers& buffers, Token&& token) {
    return boost::asio::async_compose<Token, void(error_code, std::size_t)>(
        Transfer<Wanted, Buffers>{*this, buffers}, token, socket_);
  }

  template <Way Wanted, typename Buffers>
  bool would_block(Transfer<Wanted, Buffers>& transfer) {
    transfer.result = {};
    if (!is_ours()) {
      transfer.result = boost::asio::error::operation_aborted;
      return false;
    }
    if (!socket_.non_blocking()) socket_.non_blocking(true, transfer.result);
    if (transfer.result) return false;
    if constexpr (Wanted == Way::in) {
      transfer.count = socket_.read_some(transfer.buffers, transfer.result);
    } else {
      transfer.count = socket_.write_some(transfer.buffers, transfer.result);
    }
    return transfer.result == boost::asio::error::would_block ||
           transfer.result == boost::asio::error::try_again;
  }

  [[nodiscard]] bool is_ours() const { return process_id() == process_; }

  Socket socket_;
  pid_t process_ = process_id();
};

using TcpStream = ProcessStream<boost::asio::ip::tcp::socket>;

}  // namespace custodian::detail
