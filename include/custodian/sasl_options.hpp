#pragma once

/// \file
/// SaslOptions say how a client proves by SASL who it is.

#include <functional>
#include <string>

namespace custodian {

/// How a client proves who it is.
enum class SaslMechanism {
  gssapi,      ///< a ticket of Kerberos
  digest_md5,  ///< a password that both sides know; obsolete, see SaslOptions
};

/// SASL for a client: `ClientOptions::sasl`. A plain struct.
///
/// Each connection is authenticated anew, before any request is sent on it. The servers need
/// `authProvider.sasl` and a JAAS configuration; the client's nodes are then guarded by ACLs of the
/// scheme "sasl" (`creator_all_acl()`, or an entry with the client's principal or user as its id).
///
/// Kerberos proves both sides to each other. But SASL only begins a connection: what follows is
/// neither encrypted nor signed. Over a network that is not trusted, use TLS as well
/// (`ClientOptions::tls`).
///
/// *DIGEST-MD5 is obsolete* (RFC 6331): a reader of the exchange can guess the password at
/// leisure, and the servers keep it in plain text. ZooKeeper servers with `fips-mode`, which is on
/// by default from 3.9.0, are giving it up. Use it for servers that have nothing else, over TLS;
/// for new ones use certificates (TlsOptions) or Kerberos.
///
/// *A server that refuses* the client's identity ends the session, once all servers have, or one
/// has for a session timeout: operations end with `ServerErrc::auth_failed`, and the client begins
/// another session after 5 s. *Where the mechanism itself fails*, because a ticket has ended or a
/// KDC is silent, the connection is tried again, as where a server does not answer; the reason is
/// logged. Tickets are looked for at each connection, so one that is renewed beside the client
/// (by kinit, k5start or SSSD) is used without a restart. A connection that stands outlives its
/// ticket.
///
/// Threads: a KDC is asked on a thread of its own. The client waits for it no longer than
/// `ClientOptions::connect_timeout`; the call itself may take minutes, and outlive the client.
///
/// A library that was built without SASL (`CUSTODIAN_SASL=OFF`) refuses these options.
struct SaslOptions {
  /// The mechanism, which must be the servers'.
  SaslMechanism mechanism = SaslMechanism::gssapi;

  /// The first part of the servers' principal: "zookeeper/host@REALM".
  std::string service = "zookeeper";
  /// The second part of the servers' principal. Empty: the host, as it stands in
  /// `ClientOptions::servers`, which Kerberos may then replace by its canonical name (krb5.conf:
  /// dns_canonicalize_hostname, rdns). For DIGEST-MD5, whose servers have one name for all of them,
  /// empty stands for that: "zk-sasl-md5".
  std::string server_name{};

  /// GSSAPI: the cache of the client's tickets, such as "FILE:/run/app/krb5cc". Empty: the
  /// environment's (KRB5CCNAME, or krb5.conf); with `client_keytab` a cache in memory.
  std::string credential_cache{};
  /// GSSAPI: a file with the client's key, with which tickets are got, and renewed, without help.
  /// Empty: the environment's (KRB5_CLIENT_KTNAME, or krb5.conf), if there is one.
  std::string client_keytab{};
  /// GSSAPI: the client's principal, "app/host@REALM". Empty: the first of the cache or keytab.
  std::string principal{};

  /// DIGEST-MD5: the user, in ASCII.
  std::string user{};
  /// DIGEST-MD5: returns the user's password, in ASCII. Called before each connection is made, on a
  /// thread of its own; calls may overlap, and one may end after the client. An exception fails the
  /// connection.
  std::function<std::string()> password{};
};

}  // namespace custodian
