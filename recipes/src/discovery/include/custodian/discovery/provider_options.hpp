#pragma once

/// \file
/// The options of a ServiceProvider. Value types.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "custodian/discovery/service_instance.hpp"

namespace custodian {

/// Which of several instances a ServiceProvider gives. (By a key it gives the same one to all who
/// ask: see ServiceProvider::get_for().)
enum class ProviderStrategy : std::uint8_t {
  round_robin,  ///< one after the other, in the order of their ids; begins at a random one
  random,       ///< any, each with the same probability
  sticky,       ///< always the same one, any, until it is no longer available
};

/// When an instance counts as down. The defaults are Curator's.
struct DownPolicy {
  /// The number of errors that takes an instance out. At least 1.
  std::size_t errors = 2;
  /// Within so much time from the first error, and until that time is over. More than zero.
  std::chrono::milliseconds time = std::chrono::seconds{30};
};

/// Decides whether an instance is considered.
using InstanceFilter = std::function<bool(const ServiceInstance&)>;

/// The options of a ServiceProvider.
struct ServiceProviderOptions {
  /// Which instance get() gives.
  ProviderStrategy strategy = ProviderStrategy::round_robin;
  /// An instance is considered if all of them say so. They run on the thread that asks the
  /// provider, and on the client's strand for a wait: they must not block, and must not throw.
  std::vector<InstanceFilter> filters{};
  /// When an instance counts as down.
  DownPolicy down{};
};

}  // namespace custodian
