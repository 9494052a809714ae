#pragma once

/// \file
/// Connector dials one address at a time. The C client is only given connections that stand: its
/// own way to connect tries half of an even list of addresses, forgets how to choose, and knows no
/// TLS that verifies a name.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "custodian/error.hpp"
#include "session/owned_socket.hpp"

namespace custodian::detail {

/// Strand only.
class Connector {
 public:
  /// With an error, or a connected socket: non-blocking, closed on exec, without Nagle's delay.
  using Handler = std::function<void(error_code, OwnedSocket)>;

  explicit Connector(boost::asio::any_io_executor strand);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  /// Dials an address. Calls back once on the strand, and not within this call, unless it is
  /// cancelled; with `timed_out` after `timeout`. Cancels the call before.
  void connect(const boost::asio::ip::tcp::endpoint& endpoint, std::chrono::milliseconds timeout,
               Handler handler);
  [[nodiscard]] bool busy() const noexcept { return attempt_ != nullptr; }
  /// The handler is not called any more.
  void cancel();

 private:
  struct Attempt;

  boost::asio::any_io_executor strand_;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace custodian::detail
