#pragma once

/// \file
/// InstanceChoice chooses one of several instances, by the strategy of a ServiceProvider. Pure,
/// except for randomness.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/discovery/provider_options.hpp"
#include "known_instances.hpp"

namespace custodian::discovery_detail {

/// Threads: one at a time.
class InstanceChoice {
 public:
  InstanceChoice(ProviderStrategy strategy, std::uint64_t seed);

  /// Chooses one of these instances, which must be in the order of their ids; null if there is
  /// none.
  [[nodiscard]] InstancePtr next(const std::vector<InstancePtr>& instances);

 private:
  [[nodiscard]] const InstancePtr& any(const std::vector<InstancePtr>& instances);
  [[nodiscard]] const InstancePtr& same(const std::vector<InstancePtr>& instances);

  ProviderStrategy strategy_;
  std::mt19937_64 chance_;
  std::size_t turn_;
  std::string last_id_;
};

/// The instance for this key, by rendezvous hashing: each process that sees the same ids chooses
/// the same one, and an instance that comes or goes moves only the keys that it gets or had. Null
/// if there is no instance.
[[nodiscard]] InstancePtr instance_for(std::string_view key,
                                       const std::vector<InstancePtr>& instances);

/// The score of an instance for a key: the instance with the highest score gets the key. The same
/// on every machine, and as a SetPartitioner computes it for a member and a shard
/// (docs/wire-format.md).
[[nodiscard]] std::uint64_t rendezvous_score(std::string_view key, std::string_view id) noexcept;

}  // namespace custodian::discovery_detail
