#pragma once

/// \file
/// SaslOptions say how a client authenticates by SASL.

#include <functional>
#include <string>

namespace custodian {

/// How a client proves its identity.
enum class SaslMechanism {
  gssapi,      ///< by a ticket of Kerberos
  digest_md5,  ///< by a password that both sides know; obsolete, see SaslOptions
};

/// The options of SASL for a client: `ClientOptions::sasl`. A plain struct.
///
/// Each connection is authenticated anew, before any request is sent on it. The servers need
/// `authProvider.sasl` and a JAAS configuration; the client's nodes are then guarded by ACLs of the
/// scheme "sasl" (`creator_all_acl()`, or an entry with the client's principal or user as its id).
///
/// Kerberos proves the identity of both sides. But SASL protects only the beginning of a
/// connection: what follows is neither encrypted nor signed. Over a network that is not trusted,
/// use TLS as well (`ClientOptions::tls`).
///
/// *DIGEST-MD5 is obsolete* (RFC 6331): an eavesdropper can guess the password offline, and the
/// servers keep it in plain text. With `fips-mode`, which is on by default from ZooKeeper 3.9.0,
/// ZooKeeper's own clients refuse it, and so do the newest servers. Use it over TLS, for servers
/// that support nothing else; for new servers use certificates (TlsOptions) or Kerberos.
///
/// *If servers refuse the client's identity*, the session ends: as soon as all servers have refused
/// the identity, or one server has refused it for a session timeout. Operations end with
/// `ServerErrc::auth_failed`, and the client begins another session after 5 s. *If the mechanism
/// itself fails*, because a ticket has expired or a KDC does not answer, the client connects again,
/// as after a server that did not answer; the reason is logged. The client looks for a ticket
/// before each connection, so a ticket that another program renews (kinit, k5start, SSSD) is used
/// without a restart. A connection that is established outlives its ticket.
///
/// Threads: the request to a KDC runs on a thread of its own. The client waits for it no longer
/// than `ClientOptions::connect_timeout`; the request itself may take minutes, and outlive the
/// client.
///
/// A library that was built without SASL (`CUSTODIAN_SASL=OFF`) refuses these options.
struct SaslOptions {
  /// The mechanism. It must be the one that the servers use.
  SaslMechanism mechanism = SaslMechanism::gssapi;

  /// The first part of the servers' principal: "zookeeper/host@REALM".
  std::string service = "zookeeper";
  /// The second part of the servers' principal. If this is empty, GSSAPI uses the host as it stands
  /// in `ClientOptions::servers`, which Kerberos may then replace by its canonical name (krb5.conf:
  /// dns_canonicalize_hostname, rdns); and DIGEST-MD5 uses "zk-sasl-md5", the one name of all
  /// ZooKeeper servers.
  std::string server_name{};

  /// GSSAPI: the cache of the client's tickets, such as "FILE:/run/app/krb5cc". Empty: the cache
  /// that the environment names (KRB5CCNAME, or krb5.conf); with `client_keytab`, a cache in
  /// memory.
  std::string credential_cache{};
  /// GSSAPI: a file with the client's key, by which the client gets and renews tickets itself.
  /// Empty: the file that the environment names (KRB5_CLIENT_KTNAME, or krb5.conf), if there is
  /// one.
  std::string client_keytab{};
  /// GSSAPI: the client's principal, "app/host@REALM". Empty: the first principal of the cache or
  /// keytab.
  std::string principal{};

  /// DIGEST-MD5: the user, in ASCII.
  std::string user{};
  /// DIGEST-MD5: returns the user's password, in ASCII. Called before each connection is made, on a
  /// thread of its own; calls may overlap, and one may end after the client. An exception fails the
  /// connection.
  std::function<std::string()> password{};
};

}  // namespace custodian
