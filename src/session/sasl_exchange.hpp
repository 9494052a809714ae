#pragma once

/// \file
/// SaslExchange authenticates a connection while the link holds back the server's answer to the
/// handshake. Pure: the caller passes in what has arrived, and sends what comes out.
///
/// ZooKeeper carries SASL's tokens in requests (operation 102, GetSASLRequest and SetSASLResponse)
/// that follow the handshake. The C client sends nothing before it has read the answer to its
/// handshake. So until the exchange is over, nothing else is under way on the connection, and the C
/// client sees nothing of the exchange. Each connection is authenticated anew.
///
/// A hostile server can end the connection, and the session with it, by a refusal or by an id of 0.
/// It can do no more: the number of rounds and the size of frames are bounded, and the connect
/// timeout bounds the server's silence.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "session/sasl_client.hpp"

namespace custodian::detail {

class SaslExchange {
 public:
  /// The longest frame that is accepted. A Kerberos ticket with a long list of groups has some tens
  /// of kilobytes.
  static constexpr std::size_t longest_frame = std::size_t{256} << 10U;
  /// The most rounds that are made. GSSAPI has three, and DIGEST-MD5 two.
  static constexpr int most_rounds = 8;

  explicit SaslExchange(std::unique_ptr<SaslClient> client) noexcept;

  enum class Step {
    read_more,  ///< the rest of a frame has not arrived yet
    send,       ///< `text` goes to the server
    over,       ///< authenticated, or there is no session to be authenticated
    failed,     ///< `text` says why
    refused     ///< `text` says why: the server does not accept this identity
  };
  struct Verdict {
    Step step = Step::read_more;
    /// How many bytes behind the answer to the handshake were used up; the caller removes them.
    std::size_t used = 0;
    std::string text{};
  };
  /// Decides the next step. `bytes` are all that have arrived and were not used up, beginning with
  /// the answer to the handshake. Throws nothing but std::bad_alloc.
  [[nodiscard]] Verdict next(std::string_view bytes);

  /// The size of the answer to the handshake; 0 before it has arrived.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  /// "SASL (GSSAPI)", for people.
  [[nodiscard]] std::string name() const;

 private:
  [[nodiscard]] Verdict on_handshake(std::string_view frame);
  [[nodiscard]] Verdict on_reply(std::string_view frame);
  [[nodiscard]] Verdict answer(std::string_view challenge);
  [[nodiscard]] Verdict send(const std::string& token);
  [[nodiscard]] Verdict fail(Step how, const std::string& reason) const;

  const std::unique_ptr<SaslClient> client_;
  std::size_t held_ = 0;
  std::int32_t rounds_ = 0;  ///< requests that were sent; the newest one's number
};

}  // namespace custodian::detail
