#pragma once

/// \file
/// Connector dials an address over TCP. If the client has TLS or SASL, Connector verifies the
/// server, and a link (session/secure_link.hpp) connects the C client to the server. A name that
/// has addresses of both families is dialled as RFC 8305 ("Happy Eyeballs") says: if one family
/// leads nowhere, the other is not kept waiting. The C client is given established connections
/// only: its own way to connect tries half of an even number of addresses (docs/c-client.md has
/// more), and its TLS verifies no name.

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

/// The result of connect().
struct Dialled {
  error_code error{};
  std::string reason{};   ///< the error in words, for people
  Address address{};      ///< the connected one, or the last that failed
  bool accepted = false;  ///< a server accepted the TCP connection; TLS or SASL may have failed
  /// The other addresses that were dialled: each has failed, or was too slow.
  std::vector<Address> others{};
  /// The socket for the C client: the connected one itself, or the C client's end of the link.
  /// Non-blocking, and closed on exec.
  OwnedSocket socket{};
  std::shared_ptr<SecureLink> link{};  ///< null without TLS and SASL
};

/// Used on the strand only.
class Connector {
 public:
  using Handler = std::function<void(Dialled)>;
  using Log = std::function<void(LogLevel, std::string)>;

  /// Without `tls`, connections are plain; without `sasl`, they are not authenticated. `log` gets
  /// the messages of TLS.
  Connector(boost::asio::any_io_executor strand, std::shared_ptr<Tls> tls,
            std::shared_ptr<const Sasl> sasl, Log log);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  /// How long a second address waits for the first.
  static constexpr std::chrono::milliseconds head_start{250};

  /// Dials the first of one or two addresses, and the second one when the first has failed or has
  /// had its head start. The first connection that is established is taken. Calls `handler` once,
  /// on the strand and never within connect(); after cancel(), or a later connect(), not at all.
  /// `timeout` covers all addresses, TCP, TLS and the first token of SASL; when it has passed, the
  /// error is `timed_out`. Cancels an earlier call.
  void connect(std::vector<Address> addresses, std::chrono::milliseconds timeout, Handler handler);
  [[nodiscard]] bool busy() const noexcept { return attempt_ != nullptr; }
  /// Ends the call under way. Its handler is not called any more.
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
