#include "partition/shard_plan.hpp"

namespace custodian::recipes_detail {

namespace {

/// The offset and the prime of FNV-1a with 64 bits.
constexpr std::uint64_t offset = 0xcbf29ce484222325;
constexpr std::uint64_t prime = 0x100000001b3;

std::uint64_t add(std::uint64_t hash, std::string_view text) noexcept {
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * prime;
  return hash;
}

/// MurmurHash3's last steps: without them names that differ in the last letter only would have
/// weights in the same order for every shard.
std::uint64_t mix(std::uint64_t hash) noexcept {
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33U);
}

}  // namespace

std::uint64_t shard_weight(std::string_view member, std::string_view shard) noexcept {
  // No name of a node has a slash, so no two pairs make the same text.
  return mix(add(add(add(offset, member), "/"), shard));
}

std::string_view owner_of_shard(std::string_view shard,
                                const std::set<std::string>& members) noexcept {
  std::string_view owner;
  std::uint64_t greatest = 0;
  for (const std::string& member : members) {
    const std::uint64_t weight = shard_weight(member, shard);
    if (!owner.empty() && weight <= greatest) continue;
    owner = member;
    greatest = weight;
  }
  return owner;
}

}  // namespace custodian::recipes_detail
