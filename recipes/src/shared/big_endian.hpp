#pragma once

/// \file
/// These functions encode and decode numbers like Java's ByteBuffer, which Curator's recipes use.
/// Pure.

#include <array>
#include <boost/endian/conversion.hpp>
#include <concepts>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::recipes_detail {

template <std::signed_integral Number>
[[nodiscard]] std::string to_big_endian(Number number) {
  std::array<unsigned char, sizeof number> bytes{};
  boost::endian::endian_store<Number, sizeof number, boost::endian::order::big>(bytes.data(),
                                                                                number);
  return {bytes.begin(), bytes.end()};
}

/// Decodes a number. Returns nothing unless there are exactly as many bytes as the number has.
template <std::signed_integral Number>
[[nodiscard]] std::optional<Number> from_big_endian(std::string_view bytes) {
  std::array<unsigned char, sizeof(Number)> copy{};
  if (bytes.size() != copy.size()) return std::nullopt;
  std::memcpy(copy.data(), bytes.data(), copy.size());
  return boost::endian::endian_load<Number, sizeof(Number), boost::endian::order::big>(copy.data());
}

}  // namespace custodian::recipes_detail
