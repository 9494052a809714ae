#include "base/paths.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "custodian/error.hpp"

namespace custodian::detail {
namespace {

struct Character {
  char32_t code_point;
  std::size_t size;
};

bool continues(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

/// The character at the start of `text`, which must not be empty; nothing if the text does not
/// begin with UTF-8 as RFC 3629 defines it (shortest form, no surrogates, nothing above U+10FFFF).
std::optional<Character> decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80U) {
    return Character{lead, 1};
  }
  const std::size_t size = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC0U || lead >= 0xF8U || text.size() < size) {
    return std::nullopt;
  }
  auto code_point = static_cast<char32_t>(lead & (0x7FU >> size));
  for (const char next : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if (!continues(byte)) {
      return std::nullopt;
    }
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  constexpr std::array<char32_t, 5> smallest_of_size{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < smallest_of_size.at(size) || surrogate || code_point > 0x10FFFF) {
    return std::nullopt;
  }
  return Character{code_point, size};
}

/// Whether `org.apache.zookeeper.common.PathUtils`, which the server applies, refuses a character.
/// The C client refuses fewer: without this check some paths would fail only in the reply.
bool refused_by_server(char32_t c) {
  return c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) ||
         (c >= 0xFFF0 && c <= 0xFFFF);
}

std::string at_byte(std::size_t position, std::string_view rule) {
  return std::string{rule}.append(", at byte ").append(std::to_string(position));
}

std::optional<std::string> character_fault(std::string_view path, std::size_t position,
                                           std::optional<Character> character) {
  // The server decodes a path leniently: bytes that are not UTF-8 would name another node, with
  // U+FFFD in their place.
  if (!character) {
    return at_byte(position, "must be UTF-8");
  }
  if (path[position] == '\0') {
    return at_byte(position, "must not contain NUL");
  }
  // Java's characters are UTF-16 units: a character above U+FFFF begins with a surrogate, which the
  // server refuses.
  if (character->code_point > 0xFFFF) {
    return at_byte(position, "must not contain characters above U+FFFF");
  }
  if (refused_by_server(character->code_point)) {
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "U+%04X",
                  static_cast<unsigned>(character->code_point));
    return at_byte(position, std::string{"must not contain "} + number.data());
  }
  return std::nullopt;
}

/// Checks the name that ends before the byte `end`.
std::optional<std::string> name_fault(std::string_view path, std::size_t begin, std::size_t end) {
  const auto name = path.substr(begin, end - begin);
  if (name == "." || name == "..") {
    return at_byte(begin, "must not contain '.' or '..' as a name");
  }
  if (!name.empty()) {
    return std::nullopt;
  }
  return end == path.size() ? at_byte(end - 1, "must not end in '/'")
                            : at_byte(end, "must not contain an empty name ('//')");
}

}  // namespace

std::optional<std::string> path_fault(std::string_view path, PathKind kind) {
  if (path.empty()) {
    return "must not be empty";
  }
  if (path.front() != '/') {
    return at_byte(0, "must start with '/'");
  }
  std::size_t name_begin = 1;
  std::size_t position = 1;
  while (position < path.size()) {
    const auto character = decode(path.substr(position));
    if (auto fault = character_fault(path, position, character)) {
      return fault;
    }
    if (path[position] == '/') {
      if (auto fault = name_fault(path, name_begin, position)) {
        return fault;
      }
      name_begin = position + 1;
    }
    position += character->size;
  }
  // The server appends digits to the last name of a sequential prefix, so any name is valid there.
  if (path.size() == 1 || kind == PathKind::sequential_prefix) {
    return std::nullopt;
  }
  return name_fault(path, name_begin, path.size());
}

void validate_path(std::string_view operation, std::string_view path, PathKind kind) {
  if (const auto fault = path_fault(path, kind)) {
    throw Error{Errc::invalid_argument, operation, path, "path " + *fault};
  }
}

std::string absolute_namespace(std::string_view name_space) {
  if (name_space.empty() || name_space == "/") return {};
  return (name_space.starts_with('/') ? "" : "/") + std::string{name_space};
}

std::optional<std::string> namespace_fault(std::string_view absolute) {
  return absolute.empty() ? std::nullopt : path_fault(absolute);
}

PathPrefix::PathPrefix(std::string_view chroot, std::string_view name_space) {
  for (const auto part : {chroot, name_space}) {
    if (part != "/") {
      prefix_.append(part);
    }
  }
}

std::string PathPrefix::add(std::string_view path, PathKind kind) const {
  if (path == "/" && kind == PathKind::plain) {
    return root();
  }
  return std::string{prefix_}.append(path);
}

std::optional<std::string> PathPrefix::strip(std::string_view path) const {
  if (!path.starts_with(prefix_)) {
    return std::nullopt;
  }
  const auto rest = path.substr(prefix_.size());
  if (rest.empty()) {
    return "/";
  }
  // "/application" starts with the prefix "/app", too.
  if (rest.front() != '/') {
    return std::nullopt;
  }
  return std::string{rest};
}

std::string PathPrefix::root() const { return prefix_.empty() ? "/" : prefix_; }

}  // namespace custodian::detail
