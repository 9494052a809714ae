#pragma once

/// \file
/// ShardPlan decides which member owns which shard, by rendezvous hashing: each member has a weight
/// for each shard, and the greatest weight wins. All members that see the same group make the same
/// plan, and a member that comes or goes moves its own shards only. Pure.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace custodian::recipes_detail {

/// The weight of a member for a shard: FNV-1a over both names, and then the mixing steps of
/// MurmurHash3. The same on every machine and in every version, since all members must agree.
[[nodiscard]] std::uint64_t shard_weight(std::string_view member, std::string_view shard) noexcept;

/// The member that owns a shard; empty if there are no members. Of equal weights the lesser name
/// wins.
[[nodiscard]] std::string_view owner_of_shard(std::string_view shard,
                                              const std::set<std::string>& members) noexcept;

}  // namespace custodian::recipes_detail
