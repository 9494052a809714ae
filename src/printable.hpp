#pragma once

#include <string>
#include <string_view>

namespace custodian::detail {

/// For a detail of a message: `text` with control characters written as escapes ("\x00"). `what()`
/// ends at a NUL, so that one in it would cut off what follows; and a log has one line for a
/// message.
[[nodiscard]] inline std::string in_one_line(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) {
      result.append({'\\', 'x', hex[byte >> 4U], hex[byte & 0xFU]});
    } else {
      result.push_back(c);
    }
  }
  return result;
}

/// For what a message quotes: the backslash and the double quote are escaped, too.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string quotable;
  quotable.reserve(text.size());
  for (const char c : text) {
    if (c == '\\' || c == '"') quotable.push_back('\\');
    quotable.push_back(c);
  }
  return in_one_line(quotable);
}

}  // namespace custodian::detail
