#pragma once

/// \file
/// Tls is TLS as the sessions of a client see it. Nothing here names OpenSSL, which a build may be
/// without: then tls_absent.cpp takes the place of tls.cpp.

#include <functional>
#include <memory>
#include <string>

#include "custodian/log.hpp"
#include "custodian/tls_options.hpp"
#include "session/address.hpp"
#include "session/process_stream.hpp"
#include "session/server_stream.hpp"

namespace custodian::detail {

/// What a client trusts, and who it is: makes the connections of all its sessions. One strand.
class Tls {
 public:
  virtual ~Tls() = default;
  Tls() = default;
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// TLS over a connected socket to a server at this address. Files that have changed are read
  /// first; `log` gets the reason if they could not be.
  [[nodiscard]] virtual std::unique_ptr<ServerStream> stream(
      TcpStream server, const Address& address,
      const std::function<void(LogLevel, std::string)>& log) = 0;
};

/// Reads all files. Throws Error (invalid_argument), naming the option and the reason, if one is
/// wrong, or if this build has no TLS.
[[nodiscard]] std::shared_ptr<Tls> make_tls(const TlsOptions& options);

}  // namespace custodian::detail
