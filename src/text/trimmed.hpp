#pragma once

/// \file
/// trimmed() is a text without the space around it. Pure. The library and the command share it.

#include <string_view>

namespace custodian::detail {

/// A view of the same characters, without ASCII white space at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace custodian::detail
