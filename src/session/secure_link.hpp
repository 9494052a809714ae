#pragma once

/// \file
/// SecureLink stands between the C client, which speaks plain ZooKeeper into a socket of its own,
/// and a server that speaks TLS. Nothing here names OpenSSL, which a build may be without.

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "custodian/error.hpp"
#include "custodian/log.hpp"
#include "custodian/tls_options.hpp"
#include "session/address.hpp"
#include "session/owned_socket.hpp"

namespace custodian::detail {

/// One connection. Strand only. It lives by its own handlers, and ends by itself: when the server
/// has ended the connection, the C client reads what is left and then the end; when the C client
/// has closed its socket, the server gets what is left and then the end.
class SecureLink {
 public:
  /// With an error and its reason in words, or with the C client's end.
  using Opened = std::function<void(error_code, std::string reason, OwnedSocket)>;

  virtual ~SecureLink() = default;
  SecureLink() = default;
  SecureLink(const SecureLink&) = delete;
  SecureLink& operator=(const SecureLink&) = delete;

  /// Verifies the server, and begins to pass bytes on. Calls back once, and not within this call,
  /// unless the link is aborted.
  virtual void open(Opened opened) = 0;
  /// Ends the connection at once. What was not sent yet is dropped: a request that the client has
  /// given up must not arrive later.
  virtual void abort() = 0;
  /// Why TLS ended the connection; empty if TLS did not.
  [[nodiscard]] virtual const std::string& fault() const noexcept = 0;
};

/// What a client trusts, and who it is: makes the links of all its sessions. One strand.
class Tls {
 public:
  virtual ~Tls() = default;
  Tls() = default;
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// A link over a connected socket to a server at this address. Files that have changed are read
  /// first; `log` gets the reason if they could not be.
  [[nodiscard]] virtual std::shared_ptr<SecureLink> link(
      boost::asio::ip::tcp::socket socket, const Address& address,
      const std::function<void(LogLevel, std::string)>& log) = 0;
};

/// Reads all files. Throws Error (invalid_argument), naming the option and the reason, if one is
/// wrong, or if this build has no TLS.
[[nodiscard]] std::shared_ptr<Tls> make_tls(const TlsOptions& options);

}  // namespace custodian::detail
