#pragma once

/// \file
/// Gssapi is a SaslClient of GSSAPI (RFC 4752) by MIT's Kerberos: the server proves itself, too,
/// and there is no layer of protection.

#include <gssapi/gssapi.h>

#include <string>
#include <string_view>

#include "custodian/sasl_options.hpp"
#include "session/sasl_client.hpp"

namespace custodian::detail {

class Gssapi final : public SaslClient {
 public:
  /// Gets the client's ticket for this server, "service@host"; may wait for a KDC. Throws
  /// SaslError.
  Gssapi(const SaslOptions& options, const std::string& server);

  [[nodiscard]] std::string_view mechanism() const noexcept override { return "GSSAPI"; }
  [[nodiscard]] const std::string& first() const noexcept override { return first_; }
  [[nodiscard]] std::optional<std::string> respond(std::string_view challenge) override;

 private:
  enum class Await { server, layers, outcome };

  /// A step of the context, with the server's token, or the first one.
  [[nodiscard]] std::string advance(std::string_view token);
  /// Declines the layers that the server offers, and asks for no other identity.
  [[nodiscard]] std::string choose_layer(std::string_view offer);

  /// Released with this object, and where its constructor throws.
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
