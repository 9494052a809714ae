#pragma once

/// \file
/// TlsLink is a SecureLink by OpenSSL: a pump between a pair of local sockets, one end of which is
/// the C client's, and a TLS stream to the server.
///
/// A delay in the link is on the safe side for leases: a request's time `sent` is taken before its
/// bytes enter the link, and `acknowledged` after the answer has left it.

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "session/frame_gate.hpp"
#include "session/process_stream.hpp"
#include "session/secure_link.hpp"
#include "session/server_identity.hpp"
#include "session/tls_context.hpp"

namespace custodian::detail {

class TlsLink final : public SecureLink, public std::enable_shared_from_this<TlsLink> {
 public:
  TlsLink(std::shared_ptr<SslContext> context, TcpStream server, ServerIdentity identity);

  void open(Opened opened) override;
  void set_judge(Judge judge) override { judge_ = std::move(judge); }
  void abort() override;
  [[nodiscard]] const std::string& fault() const noexcept override { return fault_; }

 private:
  void begin(const Opened& opened);
  /// Makes the pair: keeps one end, and returns the other.
  [[nodiscard]] OwnedSocket make_pair(error_code& error);
  // From the C client to the server, and back.
  void take_from_client();
  void take_from_server();
  void make_room();
  void pass_on();
  void hand_on(std::size_t size);
  void wait_for_reader();
  void judge(std::size_t size);
  void drop_front(std::size_t size);
  [[nodiscard]] std::size_t unread(error_code& error);
  // The ends; see their definitions.
  void on_server_gone(error_code error);
  void on_server_deaf();
  void on_client_gone();
  void after_patience(void (*end)(TlsLink&));
  void close();

  /// A TLS record has at most this size.
  static constexpr std::size_t record = std::size_t{16} << 10U;

  const std::shared_ptr<SslContext> context_;
  ServerIdentity identity_;
  boost::asio::ssl::stream<TcpStream> server_;
  ProcessStream<boost::asio::local::stream_protocol::socket> client_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer patience_;
  FrameGate gate_{0};
  Judge judge_;
  std::vector<char> outgoing_ = std::vector<char>(record);
  std::vector<char> incoming_ = std::vector<char>(record);
  std::size_t arrived_ = 0;  ///< bytes in `incoming_`
  std::string fault_;
  bool over_ = false;
};

}  // namespace custodian::detail
