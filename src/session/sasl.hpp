#pragma once

/// \file
/// Sasl is SASL as the sessions of a client see it. Nothing here names a library of mechanisms,
/// which a build may be without: then sasl_absent.cpp takes the place of sasl.cpp.
///
/// The mechanisms are those that ZooKeeper's servers have: GSSAPI by MIT's Kerberos, called
/// directly, and DIGEST-MD5 by OpenSSL's MD5. Cyrus SASL has both, but it is made for a program,
/// not for a library within somebody else's: the first sasl_client_init() of a process decides on
/// the callbacks of all (with ours, an application's LDAP library would lose its own),
/// sasl_done() of any ends them for all, the mechanisms are whatever a directory has at run time,
/// and why Kerberos failed is a sentence without a code. What it would save is the last step of
/// RFC 4752 and some hundred lines for a mechanism on its way out.

#include <memory>
#include <string>

#include "custodian/sasl_options.hpp"
#include "session/address.hpp"
#include "session/sasl_client.hpp"

namespace custodian::detail {

/// What a client presents. Immutable, for any thread, and kept by calls of begin() that outlive the
/// client.
class Sasl {
 public:
  virtual ~Sasl() = default;
  Sasl() = default;
  Sasl(const Sasl&) = delete;
  Sasl& operator=(const Sasl&) = delete;

  /// A dialogue with its first token, or why there is none.
  struct Begun {
    std::unique_ptr<SaslClient> client{};
    std::string reason{};
  };
  /// For a connection to a server at this address. May block for as long as a key distribution
  /// centre (KDC) is silent: minutes, where several do not answer. Does not throw.
  [[nodiscard]] virtual Begun begin(const Address& address) const = 0;
  /// What begin() does, for people.
  [[nodiscard]] virtual std::string preparation(const Address& address) const = 0;
};

/// Throws Error (invalid_argument), naming the option and the reason, if one is wrong, or if this
/// build has no SASL. Asks nobody: a ticket may come later.
[[nodiscard]] std::shared_ptr<const Sasl> make_sasl(const SaslOptions& options);

}  // namespace custodian::detail
