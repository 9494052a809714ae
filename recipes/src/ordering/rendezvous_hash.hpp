#pragma once

/// \file
/// The hash of rendezvous hashing: FNV-1a with 64 bits over the bytes, and then MurmurHash3's last
/// steps. The same on every machine and in every version, for processes must agree. Pure.

#include <cstdint>
#include <string_view>

namespace custodian::recipes_detail {

/// The hash of no bytes, before mixed(): FNV-1a's offset.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;

/// The hash of more bytes, before mixed().
[[nodiscard]] constexpr std::uint64_t hash_on(std::uint64_t hash, std::string_view bytes) noexcept {
  for (const char each : bytes) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

/// Mixes a hash. Otherwise names that differ only in their last letter would have hashes in the
/// same order for every text that follows.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash) noexcept {
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33U);
}

}  // namespace custodian::recipes_detail
