#pragma once

/// \file
/// Acl says which identities may do what with a node. Value types; any thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/export.hpp"

namespace custodian {

/// The permissions of an ACL entry; combine with `|`. The bits are ZooKeeper's own.
enum class Permissions : std::int32_t {
  /// Nothing.
  none = 0,
  /// To read the data and to list the children.
  read = 1,
  /// To write the data.
  write = 2,
  /// To create children.
  create = 4,
  /// To delete children; the server looks at the parent's ACL for that.
  remove = 8,
  /// To change the ACL.
  admin = 16,
  /// All of these.
  all = 31,
};

/// The permissions that at least one of the two has.
[[nodiscard]] constexpr Permissions operator|(Permissions a, Permissions b) noexcept {
  return static_cast<Permissions>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}

/// The permissions that both of them have.
[[nodiscard]] constexpr Permissions operator&(Permissions a, Permissions b) noexcept {
  return static_cast<Permissions>(static_cast<std::int32_t>(a) & static_cast<std::int32_t>(b));
}

/// One entry of a node's access control list.
struct AclEntry {
  /// The permissions of the identity.
  Permissions permissions = Permissions::all;
  /// The scheme of the identity: "world", "auth", "digest", "x509", "ip", ...
  std::string scheme = "world";
  /// The identity in the form of its scheme: "anyone" for world, empty for auth, digest_id() for
  /// digest, the certificate's subject for x509 ("CN=worker,O=Example", as RFC 2253 writes it).
  std::string id = "anyone";

  /// Equal if all members are equal.
  friend bool operator==(const AclEntry&, const AclEntry&) = default;
};

/// A node's access control list: an identity in none of its entries may do nothing.
using Acl = std::vector<AclEntry>;

/// An ACL by which every client may do everything: ZooKeeper's default.
[[nodiscard]] CUSTODIAN_EXPORT Acl open_acl();
/// An ACL by which every client may read, and do nothing else.
[[nodiscard]] CUSTODIAN_EXPORT Acl read_acl();
/// An ACL by which each identity that the creating session has authenticated may do everything. A
/// session authenticates by `ClientOptions::credentials`, by a certificate
/// (`TlsOptions::certificate_chain_file`), or by SASL; if it has not, the server refuses this ACL
/// (invalid_acl).
[[nodiscard]] CUSTODIAN_EXPORT Acl creator_all_acl();

/// The id of a user of the scheme "digest", for an `AclEntry` that names another user: "user:", and
/// a hash of user and password. The id suits servers whose `digestAlg` is SHA-1, the default.
/// Throws Error (invalid_argument) if the user is empty or has a colon, or if the library was built
/// without OpenSSL (`CUSTODIAN_TLS`).
[[nodiscard]] CUSTODIAN_EXPORT std::string digest_id(std::string_view user,
                                                     std::string_view password);

/// Chooses the ACL of a node that is created without an explicit one. Called with the path as the
/// user gave it, and with the paths of missing parents that the create adds. Runs on the thread
/// that calls the operation, and on the client's strand: the function must not block, and must be
/// safe to call from any thread. If it throws, the create fails (invalid_argument).
using AclProvider = std::function<Acl(std::string_view path)>;

}  // namespace custodian
