#pragma once

/// \file
/// Sasl is the interface between SASL and the sessions of a client. This header names no library of
/// mechanisms, because a build may have none: then sasl_absent.cpp replaces sasl.cpp.
///
/// The mechanisms are those that ZooKeeper's servers have: GSSAPI by MIT's Kerberos, called
/// directly, and DIGEST-MD5 by OpenSSL's MD5. Cyrus SASL has both, but it is made for a program,
/// not for a library within one. The first sasl_client_init() of a process sets the callbacks for
/// all users (an application's LDAP library could lose its own), and the sasl_done() of one user
/// ends it for all. Its mechanisms are those that a directory has at run time, and it reports a
/// failure of Kerberos as a sentence without a code. Cyrus SASL would save the last step of RFC
/// 4752, and some hundred lines for DIGEST-MD5, which is obsolete.

#include <memory>
#include <string>

#include "custodian/sasl_options.hpp"
#include "session/address.hpp"
#include "session/sasl_client.hpp"

namespace custodian::detail {

/// The identity that a client presents. Immutable, and used on any thread. A call of begin() may
/// outlive the client; it keeps this object.
class Sasl {
 public:
  virtual ~Sasl() = default;
  Sasl() = default;
  Sasl(const Sasl&) = delete;
  Sasl& operator=(const Sasl&) = delete;

  /// A dialogue with its first token, or the reason why there is none.
  struct Begun {
    std::unique_ptr<SaslClient> client{};
    std::string reason{};
  };
  /// Begins the dialogue for a connection to the server at this address. May block for as long as a
  /// key distribution centre (KDC) is silent: minutes, if several do not answer. Does not throw.
  [[nodiscard]] virtual Begun begin(const Address& address) const = 0;
  /// What begin() does, in words for people.
  [[nodiscard]] virtual std::string preparation(const Address& address) const = 0;
};

/// Throws Error (invalid_argument), naming the option and the reason, if one is wrong, or if this
/// build has no SASL. Asks no KDC: a ticket may come later.
[[nodiscard]] std::shared_ptr<const Sasl> make_sasl(const SaslOptions& options);

}  // namespace custodian::detail
