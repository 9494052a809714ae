#pragma once

/// \file
/// Numbers in the text forms of layouts and maps. Pure.

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace custodian::recipes_detail {

/// The whole text as a number; nothing if it is not in the one form in which numbers are written:
/// digits, without leading zeros.
template <typename Number>
[[nodiscard]] std::optional<Number> plain_number(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace custodian::recipes_detail
