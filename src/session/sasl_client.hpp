#pragma once

/// \file
/// SaslClient is a client's side of one dialogue of a SASL mechanism (RFC 4422): tokens in, tokens
/// out.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace custodian::detail {

/// A dialogue that cannot go on, with the reason for people.
class SaslError : public std::runtime_error {
 public:
  enum class Kind {
    failed,  ///< another attempt may succeed
    refused  ///< the server does not accept this identity
  };
  SaslError(Kind kind, const std::string& reason) : std::runtime_error{reason}, kind_{kind} {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// For one connection. One thread at a time.
class SaslClient {
 public:
  virtual ~SaslClient() = default;
  SaslClient() = default;
  SaslClient(const SaslClient&) = delete;
  SaslClient& operator=(const SaslClient&) = delete;

  /// As IANA registers it.
  [[nodiscard]] virtual std::string_view mechanism() const noexcept = 0;
  /// The token that begins the dialogue.
  [[nodiscard]] virtual const std::string& first() const noexcept = 0;
  /// The token that answers the server's; nothing if the dialogue has succeeded, and the server is
  /// who it must be. Does not block. Throws SaslError.
  [[nodiscard]] virtual std::optional<std::string> respond(std::string_view challenge) = 0;
};

}  // namespace custodian::detail
