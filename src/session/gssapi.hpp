#pragma once

/// \file
/// Gssapi is a SaslClient of GSSAPI (RFC 4752), with MIT's Kerberos. The server proves its
/// identity, too, and no security layer is used.

#include <gssapi/gssapi.h>

#include <string>
#include <string_view>

#include "custodian/sasl_options.hpp"
#include "session/sasl_client.hpp"

namespace custodian::detail {

class Gssapi final : public SaslClient {
 public:
  /// Gets the client's ticket for this server, "service@host"; may block while a KDC is silent.
  /// Throws SaslError.
  Gssapi(const SaslOptions& options, const std::string& server);

  [[nodiscard]] std::string_view mechanism() const noexcept override { return "GSSAPI"; }
  [[nodiscard]] const std::string& first() const noexcept override { return first_; }
  [[nodiscard]] std::optional<std::string> respond(std::string_view challenge) override;

 private:
  enum class Await { server, layers, outcome };

  /// Makes the context's next step with the server's token, or its first step with an empty one.
  /// Returns the client's token.
  [[nodiscard]] std::string advance(std::string_view token);
  /// Answers the server's offer of security layers: none of them, and no other identity to act as.
  [[nodiscard]] std::string choose_layer(std::string_view offer);

  /// GSSAPI's handles, in a member, so that they are released even if the constructor of Gssapi
  /// throws.
  struct Handles {
    Handles() = default;
    Handles(const Handles&) = delete;
    Handles& operator=(const Handles&) = delete;
    ~Handles();

    gss_name_t server = GSS_C_NO_NAME;
    gss_name_t client = GSS_C_NO_NAME;
    gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
    gss_ctx_id_t context = GSS_C_NO_CONTEXT;
  };

  Handles handles_;
  Await awaits_ = Await::server;
  std::string first_;
};

}  // namespace custodian::detail
