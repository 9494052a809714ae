#pragma once

/// \file
/// DigestMd5 is a SaslClient of DIGEST-MD5 (RFC 2831), as far as ZooKeeper's servers speak it:
/// authentication only, without a security layer. The mechanism is obsolete (RFC 6331).

#include <string>
#include <string_view>

#include "session/sasl_client.hpp"

namespace custodian::detail {

struct DigestMd5Identity {
  std::string user{};
  std::string password{};
  std::string server{};  ///< "service/host", which the server compares with its own
};

class DigestMd5 final : public SaslClient {
 public:
  /// `nonce` is the client's: printable characters that were never used before.
  DigestMd5(DigestMd5Identity identity, std::string nonce);

  [[nodiscard]] std::string_view mechanism() const noexcept override { return "DIGEST-MD5"; }
  /// The first token is empty, because the server speaks first. (A token would ask for a renewal of
  /// an earlier authentication, which Java's servers misread: JDK-6682540.)
  [[nodiscard]] const std::string& first() const noexcept override { return empty_; }
  [[nodiscard]] std::optional<std::string> respond(std::string_view challenge) override;

 private:
  [[nodiscard]] std::string answer(std::string_view challenge);
  void check_proof(std::string_view challenge) const;

  const DigestMd5Identity identity_;
  const std::string nonce_;
  const std::string empty_;
  std::string proof_;  ///< what the server must answer; empty before the first challenge
};

}  // namespace custodian::detail
