#include "session/c_codec.hpp"

#include "session/server_time.hpp"

namespace custodian::detail {
error_code to_error(int code) noexcept {
  if (code == ZOK) {
    return {};
  }
  switch (code) {
    // The C client completes a request with ZRUNTIMEINCONSISTENCY, after the reconnection, if its
    // send failed, and also if its reply came out of order. In both cases it is unknown whether the
    // request was applied.
    case ZRUNTIMEINCONSISTENCY:
    case ZOPERATIONTIMEOUT: return ServerErrc::connection_loss;
    // An expired handle answers every new call with this code.
    case ZINVALIDSTATE: return ServerErrc::session_expired;
    case ZCLOSING: return Errc::closed;
    default: return static_cast<ServerErrc>(code);
  }
}

custodian::Stat to_stat(const ::Stat& stat) {
  return {.czxid = stat.czxid,
          .mzxid = stat.mzxid,
          .pzxid = stat.pzxid,
          .created = to_time(stat.ctime),
          .modified = to_time(stat.mtime),
          .version = stat.version,
          .children_version = stat.cversion,
          .acl_version = stat.aversion,
          .ephemeral_owner = stat.ephemeralOwner,
          .data_length = stat.dataLength,
          .child_count = stat.numChildren};
}

Acl to_acl(const ACL_vector& acl) {
  if (acl.count == 0) return {};
  const ACL* const entries = &present(acl.data);
  Acl result;
  result.reserve(static_cast<std::size_t>(acl.count));
  for (int i = 0; i < acl.count; ++i) {
    result.push_back({static_cast<Permissions>(entries[i].perms), &present(entries[i].id.scheme),
                      &present(entries[i].id.id)});
  }
  return result;
}

std::vector<std::string> to_strings(const String_vector& strings) {
  if (strings.count == 0) return {};
  char* const* const texts = &present(strings.data);
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(strings.count));
  for (int i = 0; i < strings.count; ++i) result.emplace_back(&present(texts[i]));
  return result;
}

int to_flags(CreateMode mode) noexcept {
  switch (mode) {
    case CreateMode::persistent: return ZOO_PERSISTENT;
    case CreateMode::ephemeral: return ZOO_EPHEMERAL;
    case CreateMode::persistent_sequential: return ZOO_PERSISTENT_SEQUENTIAL;
    case CreateMode::ephemeral_sequential: return ZOO_EPHEMERAL_SEQUENTIAL;
    case CreateMode::container: return ZOO_CONTAINER;
    case CreateMode::persistent_with_ttl: return ZOO_PERSISTENT_WITH_TTL;
    case CreateMode::persistent_sequential_with_ttl: return ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
  }
  return ZOO_PERSISTENT;
}

CAcl::CAcl(const Acl& acl) {
  entries_.reserve(acl.size());
  for (const AclEntry& entry : acl) {
    // The C client takes char* and only reads through it.
    entries_.push_back(
        {static_cast<std::int32_t>(entry.permissions),
         {const_cast<char*>(entry.scheme.c_str()), const_cast<char*>(entry.id.c_str())}});
  }
  vector_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
}

}  // namespace custodian::detail
