#pragma once

/// \file
/// Connector dials an address, over TCP and, if the client has TLS or SASL, through a link to a
/// server that it has verified. A name that has addresses of both families is dialled as RFC 8305
/// ("Happy Eyeballs") says: if one family leads nowhere, the other is not kept waiting. The C
/// client is only given connections that stand: its own way to connect tries half of an even list
/// of addresses, forgets how to choose, and knows no TLS that verifies a name.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "custodian/error.hpp"
#include "session/address.hpp"
#include "session/owned_socket.hpp"
#include "session/sasl.hpp"
#include "session/secure_link.hpp"
#include "session/tls.hpp"

namespace custodian::detail {

/// What became of a call.
struct Dialled {
  error_code error{};
  std::string reason{};   ///< of the error, for people
  Address address{};      ///< what is connected, or has failed last
  bool accepted = false;  ///< a server has accepted the connection, whatever came of it
  /// The other addresses that were dialled: each has failed, or was too slow.
  std::vector<Address> others{};
  /// For the C client: the connected socket itself, or its end of the link. Non-blocking, and
  /// closed on exec.
  OwnedSocket socket{};
  std::shared_ptr<SecureLink> link{};  ///< null without TLS and SASL
};

/// Strand only.
class Connector {
 public:
  using Handler = std::function<void(Dialled)>;
  using Log = std::function<void(LogLevel, std::string)>;

  /// Without `tls`, connections are plain; without `sasl`, they are not authenticated. `log` is for
  /// what TLS has to say.
  Connector(boost::asio::any_io_executor strand, std::shared_ptr<Tls> tls,
            std::shared_ptr<const Sasl> sasl, Log log);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  /// How long a second address waits for the first.
  static constexpr std::chrono::milliseconds head_start{250};

  /// Dials the first of one or two addresses, and the second one when the first has failed or has
  /// had its head start; the first connection is taken. Calls back once on the strand, and not
  /// within this call, unless it is cancelled; with `timed_out` after `timeout`, which is for all
  /// addresses, TCP, TLS and the first token of SASL together. Cancels the call before.
  void connect(std::vector<Address> addresses, std::chrono::milliseconds timeout, Handler handler);
  [[nodiscard]] bool busy() const noexcept { return attempt_ != nullptr; }
  /// The handler is not called any more.
  void cancel();

 private:
  struct Attempt;
  struct Call;
  using AttemptPtr = std::shared_ptr<Attempt>;

  void dial_next(const AttemptPtr& attempt);
  void on_failed(const AttemptPtr& attempt, const Call& call, error_code error);
  void on_connected(const AttemptPtr& attempt, Call& call);
  void secure(const AttemptPtr& attempt, Call& call);
  void end(const AttemptPtr& attempt, const Address& address, Dialled dialled);

  boost::asio::any_io_executor strand_;
  std::shared_ptr<Tls> tls_;
  std::shared_ptr<const Sasl> sasl_;
  Log log_;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace custodian::detail
