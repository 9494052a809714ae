#pragma once

/// \file
/// These functions encode numbers as Java's ByteBuffer does, and so Curator's recipes. Pure.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace custodian::recipes_detail {

template <std::signed_integral Number>
[[nodiscard]] std::string to_big_endian(Number number) {
  auto rest = static_cast<std::make_unsigned_t<Number>>(number);
  std::string bytes(sizeof number, '\0');
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte, rest >>= 8) {
    *byte = static_cast<char>(rest & 0xff);
  }
  return bytes;
}

/// Nothing unless there are exactly as many bytes as the number has.
template <std::signed_integral Number>
[[nodiscard]] std::optional<Number> from_big_endian(std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) return std::nullopt;
  std::make_unsigned_t<Number> number = 0;
  for (const char byte : bytes) {
    number = static_cast<decltype(number)>(number << 8 | static_cast<unsigned char>(byte));
  }
  return static_cast<Number>(number);
}

}  // namespace custodian::recipes_detail
