#pragma once

#include <string>
#include <string_view>

namespace custodian::detail {

/// For messages: `text` with control characters, the backslash and the double quote written as
/// escapes ("\x00"). `what()` ends at a NUL, so that one in a bad argument would cut off the rule
/// that it breaks; and a log has one line for a message.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == '"') {
      result.append({'\\', c});
    } else if (byte < 0x20U || byte == 0x7FU) {
      result.append({'\\', 'x', hex[byte >> 4U], hex[byte & 0xFU]});
    } else {
      result.push_back(c);
    }
  }
  return result;
}

}  // namespace custodian::detail
