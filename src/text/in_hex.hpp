#pragma once

/// \file
/// in_hex() writes session ids as ZooKeeper's own tools do.

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace custodian::detail {

/// For example "0x100000a3f2b0001".
[[nodiscard]] inline std::string in_hex(std::int64_t id) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint64_t>(id), 16);
  return "0x" + std::string{digits.begin(), end.ptr};
}

}  // namespace custodian::detail
