#pragma once

/// \file
/// Connector dials one address at a time, over TCP and, if the client has TLS, through a link to a
/// server that it has verified. The C client is only given connections that stand: its own way to
/// connect tries half of an even list of addresses, forgets how to choose, and knows no TLS that
/// verifies a name.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "custodian/error.hpp"
#include "session/address.hpp"
#include "session/owned_socket.hpp"
#include "session/tls.hpp"

namespace custodian::detail {

/// What became of a call.
struct Dialled {
  error_code error{};
  std::string reason{};  ///< of the error, for people
  /// For the C client: the connected socket itself, or its end of the link. Non-blocking, and
  /// closed on exec.
  OwnedSocket socket{};
  std::shared_ptr<SecureLink> link{};  ///< null without TLS
};

/// Strand only.
class Connector {
 public:
  using Handler = std::function<void(Dialled)>;
  using Log = std::function<void(LogLevel, std::string)>;

  /// Without `tls`, connections are plain. `log` is for what TLS has to say.
  Connector(boost::asio::any_io_executor strand, std::shared_ptr<Tls> tls, Log log);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  /// Dials an address. Calls back once on the strand, and not within this call, unless it is
  /// cancelled; with `timed_out` after `timeout`, which is for TCP and TLS together. Cancels the
  /// call before.
  void connect(const Address& address, std::chrono::milliseconds timeout, Handler handler);
  [[nodiscard]] bool busy() const noexcept { return attempt_ != nullptr; }
  /// The handler is not called any more.
  void cancel();

 private:
  struct Attempt;

  void secure(const std::shared_ptr<Attempt>& attempt, const Address& address);
  void end(const std::shared_ptr<Attempt>& attempt, Dialled dialled);

  boost::asio::any_io_executor strand_;
  std::shared_ptr<Tls> tls_;
  Log log_;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace custodian::detail
