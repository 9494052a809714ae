#pragma once

#include <string>
#include <string_view>

#include "text/one_line.hpp"

namespace custodian::detail {

/// Makes text safe to quote in a message. Escapes what in_one_line() escapes, the backslash and the
/// double quote.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string quotable;
  quotable.reserve(text.size());
  for (const char c : text) {
    if (c == '\\' || c == '"') quotable.push_back('\\');
    quotable.push_back(c);
  }
  return in_one_line(quotable);
}

/// Shortens a path, or other text from elsewhere, for a message: text of more than `longest` bytes
/// is cut in the middle.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t longest = 1000) {
  constexpr std::size_t kept = 100;  // bytes at each end
  if (text.size() <= longest) return std::string{text};
  const auto continues = [&](std::size_t at) {  // whether it is amid a UTF-8 character
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::size_t begin = kept;
  std::size_t end = text.size() - kept;
  while (begin > 0 && continues(begin)) --begin;
  while (end < text.size() && continues(end)) ++end;
  return std::string{text.substr(0, begin)} + "..." + std::string{text.substr(end)};
}

}  // namespace custodian::detail
