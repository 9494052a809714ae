#pragma once

/// \file
/// SaslClient is a client's side of one dialogue of a SASL mechanism (RFC 4422): tokens in, tokens
/// out.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace custodian::detail {

/// Why a dialogue cannot go on, in words for people.
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

/// The dialogue of one connection. Used by one thread at a time.
class SaslClient {
 public:
  virtual ~SaslClient() = default;
  SaslClient() = default;
  SaslClient(const SaslClient&) = delete;
  SaslClient& operator=(const SaslClient&) = delete;

  /// The mechanism's name, as IANA registers it.
  [[nodiscard]] virtual std::string_view mechanism() const noexcept = 0;
  /// The token that begins the dialogue.
  [[nodiscard]] virtual const std::string& first() const noexcept = 0;
  /// Returns the token that answers the server's; nothing if the dialogue has succeeded, and the
  /// server has proved its identity. Does not block. Throws SaslError.
  [[nodiscard]] virtual std::optional<std::string> respond(std::string_view challenge) = 0;
};

}  // namespace custodian::detail
