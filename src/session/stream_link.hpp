#pragma once

/// \file
/// StreamLink is a SecureLink: a pump between a pair of local sockets, one end of which is the C
/// client's, and a ServerStream. If the client authenticates by SASL, the server's answer to the
/// handshake is held back until that is done.
///
/// A delay in the link is on the safe side for leases: a request's time `sent` is taken before its
/// bytes enter the link, and `acknowledged` after the answer has left it. The same is true of the
/// answer to the handshake, however long it is held back: the lease clock counts the session from
/// the time before the handshake was sent, and the server receives each round of SASL later.

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/address.hpp"
#include "session/errand.hpp"
#include "session/frame_gate.hpp"
#include "session/process_stream.hpp"
#include "session/sasl.hpp"
#include "session/sasl_exchange.hpp"
#include "session/secure_link.hpp"
#include "session/server_stream.hpp"

namespace custodian::detail {

class StreamLink final : public SecureLink, public std::enable_shared_from_this<StreamLink> {
 public:
  /// Without `sasl`, nothing is held back. `address` is the server's.
  StreamLink(std::unique_ptr<ServerStream> server, std::shared_ptr<const Sasl> sasl,
             Address address);

  void open(Opened opened) override;
  [[nodiscard]] std::string waits_for() const override;
  void set_judge(Judge judge) override { judge_ = std::move(judge); }
  void abort() override;
  [[nodiscard]] const std::string& fault() const noexcept override { return fault_; }
  [[nodiscard]] Proof proof() const noexcept override { return proof_; }

 private:
  // Gets the first token of SASL, for which a KDC may be asked, before the handshake is sent: so no
  // session waits at a server meanwhile, and none is left there if the token does not come.
  void prepare(Opened opened);
  void begin(const Opened& opened);
  /// Makes the pair of sockets. Keeps one end, and returns the C client's.
  [[nodiscard]] OwnedSocket make_pair(error_code& error);
  // Whether the C client has sent more than its handshake, although the answer is held back.
  [[nodiscard]] bool speaks_too_soon(std::size_t count);
  void authenticate();
  // These functions pass bytes from the C client to the server, and back.
  void take_from_client();
  void write_next();
  /// Returns whether the link goes on.
  bool on_written(error_code error);
  void take_from_server();
  void make_room();
  void pass_on();
  void hand_on(std::size_t size);
  void wait_for_reader();
  void judge(std::size_t size);
  void drop(std::size_t from, std::size_t size);
  [[nodiscard]] std::size_t unread(error_code& error);
  // These functions end the link; see their definitions.
  void blame_server();
  void on_server_gone(error_code error);
  void on_server_deaf();
  void on_client_gone();
  void after_patience(void (*end)(StreamLink&));
  void close();

  /// The size of the C client's longest handshake, its length field included.
  static constexpr std::size_t handshake = 49;
  /// A TLS record has at most this size.
  static constexpr std::size_t record = std::size_t{16} << 10U;

  const std::unique_ptr<ServerStream> server_;
  const std::shared_ptr<const Sasl> sasl_;
  const Address address_;
  Errand<Sasl::Begun> errand_;
  std::optional<SaslExchange> exchange_;  ///< the exchange, until it is over
  ProcessStream<boost::asio::local::stream_protocol::socket> client_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer patience_;
  FrameGate gate_{0};
  Judge judge_;
  bool writes_ = false;      ///< a write to the server is under way
  std::string requests_;     ///< the exchange's requests that are not being written yet
  std::size_t taken_ = 0;    ///< the bytes in `outgoing_`
  std::size_t greeted_ = 0;  ///< bytes from the C client before the exchange was over
  std::vector<char> outgoing_ = std::vector<char>(record);
  std::vector<char> incoming_ = std::vector<char>(record);
  std::size_t arrived_ = 0;  ///< bytes in `incoming_`
  std::string fault_;
  Proof proof_ = Proof::none_needed;
  bool over_ = false;
};

}  // namespace custodian::detail
