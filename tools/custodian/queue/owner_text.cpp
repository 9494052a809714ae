#include "queue/owner_text.hpp"

#include "text/json_text.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {

std::string identity_or_dash(const std::string& identity) {
  return identity.empty() ? "-" : printable(identity);
}

std::string session_or_none(std::int64_t session) {
  return session == 0 ? "none" : session_text(session);
}

std::string_view name_below(std::string_view node, std::string_view path) {
  const std::string below = path == "/" ? "/" : std::string{path} + '/';
  return node.starts_with(below) ? node.substr(below.size()) : node;
}

std::optional<std::string> address_of(std::int64_t session,
                                      const std::optional<Addresses>& addresses) {
  if (!addresses) return std::nullopt;
  const auto address = addresses->find(session);
  return address == addresses->end() ? std::nullopt : std::optional{address->second};
}

}  // namespace custodian::cli
