#include "partition/shard_plan.hpp"

#include "ordering/rendezvous_hash.hpp"

namespace custodian::recipes_detail {

std::uint64_t shard_weight(std::string_view member, std::string_view shard) noexcept {
  // The name of a node contains no slash, so different pairs never make the same text.
  return mixed(hash_on(hash_on(hash_on(hash_of_nothing, member), "/"), shard));
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
