#pragma once

/// \file
/// Tls is the interface between TLS and the sessions of a client. This header does not name
/// OpenSSL, because a build may be without it: then tls_absent.cpp replaces tls.cpp.

#include <functional>
#include <memory>
#include <string>

#include "custodian/log.hpp"
#include "custodian/tls_options.hpp"
#include "session/address.hpp"
#include "session/process_stream.hpp"
#include "session/server_stream.hpp"

namespace custodian::detail {

/// Makes the TLS connections of all sessions of a client, with the certificates that the client
/// trusts and its own. Used on one strand.
class Tls {
 public:
  virtual ~Tls() = default;
  Tls() = default;
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// Returns TLS over a connected socket to the server at this address. Files that have changed are
  /// read first; if they cannot be used, `log` gets the reason.
  [[nodiscard]] virtual std::unique_ptr<ServerStream> stream(
      TcpStream server, const Address& address,
      const std::function<void(LogLevel, std::string)>& log) = 0;
};

/// Reads all files. Throws Error (invalid_argument), naming the option and the reason, if one is
/// wrong, or if this build has no TLS.
[[nodiscard]] std::shared_ptr<Tls> make_tls(const TlsOptions& options);

}  // namespace custodian::detail
