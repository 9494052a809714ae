#include "custodian/locks/path_of.hpp"

#include <algorithm>

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

namespace {

/// Escapes '/', '%', and all that is not printable ASCII, so that different values give different
/// paths. The names "." and "..", which no node may have, are escaped as a whole.
std::string escaped(std::string_view value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const bool leads_elsewhere = value == "." || value == "..";
  std::string text;
  for (const char character : value) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain =
        byte >= 0x20 && byte < 0x7F && byte != '/' && byte != '%' && !leads_elsewhere;
    if (plain) {
      text += character;
    } else {
      text += {'%', digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
  return text;
}

}  // namespace

std::string fill_path(std::string_view pattern, const std::vector<std::string>& values) {
  const auto refuse = [&](const std::string& why) {
    throw Error{Errc::invalid_argument, "path_of", pattern, why};
  };
  if (!pattern.starts_with('/')) refuse("pattern: a path begins with '/'");
  std::string path;
  std::size_t used = 0;
  bool filled = false;  // whether the present part of the path has a value
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char character = pattern[at];
    if (character == '/') filled = false;
    if (character != '{' && character != '}') {
      path += character;
      continue;
    }
    if (pattern.substr(at, 2) != "{}") refuse("pattern: a brace that is no {}");
    if (filled) refuse("pattern: two {} in one part of a path, which nobody could tell apart");
    if (used == values.size()) refuse("values: there are fewer than {}");
    if (values[used].empty()) refuse("values: one is empty, or null");
    path += escaped(values[used]);
    ++used;
    ++at;
    filled = true;
  }
  if (used < values.size()) refuse("values: there are more than {}");
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) {
    refuse("values: /zookeeper is ZooKeeper's own");
  }
  return path;
}

}  // namespace custodian::recipes_detail
