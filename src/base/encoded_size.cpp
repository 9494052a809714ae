#include "base/encoded_size.hpp"

#include <type_traits>

namespace custodian::detail {

namespace {

// The sizes of zookeeper.jute's types. Integers are big-endian, and nothing is padded.
constexpr std::size_t of_int = 4;
constexpr std::size_t of_long = 8;
constexpr std::size_t of_boolean = 1;
/// RequestHeader: xid and type.
constexpr std::size_t header = of_int + of_int;
/// MultiHeader: type, done, err. One in front of each operation, and one at the end.
constexpr std::size_t multi_header = of_int + of_boolean + of_int;

/// A ustring or a buffer: its length, then its bytes, without a terminator.
std::size_t of_bytes(std::string_view bytes) { return of_int + bytes.size(); }

std::size_t of_acl(const Acl& acl) {
  std::size_t size = of_int;
  for (const AclEntry& entry : acl) size += of_int + of_bytes(entry.scheme) + of_bytes(entry.id);
  return size;
}

/// The size without the request header, which an operation of a multi does not have.
struct Body {
  std::size_t operator()(const request::Create& r) const {
    const std::size_t ttl = has_ttl(r.mode) ? of_long : 0;
    return of_bytes(r.path) + of_bytes(r.data) + of_acl(r.acl) + of_int + ttl;
  }
  std::size_t operator()(const request::Remove& r) const { return of_bytes(r.path) + of_int; }
  std::size_t operator()(const request::Exists& r) const { return of_bytes(r.path) + of_boolean; }
  std::size_t operator()(const request::Get& r) const { return of_bytes(r.path) + of_boolean; }
  std::size_t operator()(const request::Set& r) const {
    return of_bytes(r.path) + of_bytes(r.data) + of_int;
  }
  std::size_t operator()(const request::GetChildren& r) const {
    return of_bytes(r.path) + of_boolean;
  }
  std::size_t operator()(const request::GetAcl& r) const { return of_bytes(r.path); }
  std::size_t operator()(const request::SetAcl& r) const {
    return of_bytes(r.path) + of_acl(r.acl) + of_int;
  }
  std::size_t operator()(const request::Sync& r) const { return of_bytes(r.path); }
  std::size_t operator()(const transaction::Check& c) const { return of_bytes(c.path) + of_int; }
  std::size_t operator()(const request::Multi& r) const {
    std::size_t size = multi_header;
    for (const auto& each : r.operations) size += multi_header + std::visit(*this, each);
    return size;
  }
};

}  // namespace

std::size_t encoded_size(const Request& request) { return header + std::visit(Body{}, request); }

std::size_t encoded_size(const SessionSettings::Credential& credential) {
  return header + of_int + of_bytes(credential.scheme) + of_bytes(credential.value);
}

std::size_t encoded_size_of_check(std::size_t path_size) {
  return header + multi_header + of_int + path_size + of_int + multi_header;
}

}  // namespace custodian::detail
