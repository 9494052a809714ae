#pragma once

/// \file
/// SaslExchange authenticates a connection while the server's answer to the handshake is held back.
/// Pure: bytes go in, and what is to be sent comes out.
///
/// ZooKeeper carries SASL's tokens in requests (operation 102, GetSASLRequest and SetSASLResponse)
/// that follow the handshake. The C client sends nothing before it has read the answer to its
/// handshake. So until the exchange is over nothing else is under way on the connection, and
/// nothing of it is seen by the C client. Each connection is authenticated anew.
///
/// A server that is hostile can end the connection, and the session with it, by a refusal or by an
/// id of 0. It can do no more: frames and rounds are bounded, and silence by the connect timeout.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "session/sasl_client.hpp"

namespace custodian::detail {

class SaslExchange {
 public:
  /// A Kerberos ticket with a long list of groups has some tens of kilobytes.
  static constexpr std::size_t longest_frame = std::size_t{256} << 10U;
  /// GSSAPI has three, and DIGEST-MD5 two.
  static constexpr int most_rounds = 8;

  explicit SaslExchange(std::unique_ptr<SaslClient> client) noexcept;

  enum class Step {
    read_more,  ///< a frame's rest has not come yet
    send,       ///< `text` goes to the server
    over,       ///< authenticated, or there is no session to be authenticated
    failed,     ///< `text` says why
    refused     ///< `text` says why: the server does not accept this identity
  };
  struct Verdict {
    Step step = Step::read_more;
    /// How many bytes behind the answer to the handshake were used up; they do not come back.
    std::size_t used = 0;
    std::string text{};
  };
  /// `bytes` are all that has come and was not used up, the answer to the handshake first. Throws
  /// nothing but std::bad_alloc.
  [[nodiscard]] Verdict next(std::string_view bytes);

  /// The size of the answer to the handshake; 0 before it has come.
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
