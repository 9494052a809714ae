#pragma once

/// \file
/// InstanceChoice takes one of several instances: the strategies of a ServiceProvider. Pure, but
/// for chance.

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

  /// One of these instances, which are in the order of their ids; null if there is none.
  [[nodiscard]] InstancePtr next(const std::vector<InstancePtr>& instances);

 private:
  [[nodiscard]] const InstancePtr& any(const std::vector<InstancePtr>& instances);
  [[nodiscard]] const InstancePtr& same(const std::vector<InstancePtr>& instances);

  ProviderStrategy strategy_;
  std::mt19937_64 chance_;
  std::size_t turn_;
  std::string last_id_;
};

/// The instance of this key, by rendezvous hashing: each process that sees the same ids takes the
/// same one, and an instance that comes or goes moves only the keys that it gets or had. Null if
/// there is no instance.
[[nodiscard]] InstancePtr instance_for(std::string_view key,
                                       const std::vector<InstancePtr>& instances);

/// How much an instance wants a key: the one that wants it most gets it. Does not depend on the
/// machine, and is what a SetPartitioner takes for a member and a shard (docs/wire-format.md).
[[nodiscard]] std::uint64_t rendezvous_score(std::string_view key, std::string_view id) noexcept;

}  // namespace custodian::discovery_detail
