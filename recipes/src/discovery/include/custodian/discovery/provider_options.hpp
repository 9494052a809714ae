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

/// Which of several instances ServiceProvider::get() returns. (ServiceProvider::get_for() ignores
/// the strategy: it returns the same instance to all callers with the same key.)
enum class ProviderStrategy : std::uint8_t {
  round_robin,  ///< one after the other, in the order of their ids, beginning with a random one
  random,       ///< any, each with the same probability
  sticky,       ///< a random one, and then always that one, until it is no longer available
};

/// When an instance counts as down. The defaults are Curator's.
struct DownPolicy {
  /// The number of errors that takes an instance out. At least 1.
  std::size_t errors = 2;
  /// The errors count within this time from the first of them, and the instance is down until that
  /// time is over. More than zero.
  std::chrono::milliseconds time = std::chrono::seconds{30};
};

/// Decides whether an instance is considered.
using InstanceFilter = std::function<bool(const ServiceInstance&)>;

/// The options of a ServiceProvider.
struct ServiceProviderOptions {
  /// Which instance get() returns.
  ProviderStrategy strategy = ProviderStrategy::round_robin;
  /// An instance is considered if all filters accept it. They run on the thread that asks the
  /// provider, and on the client's strand for a wait: they must not block, and must not throw.
  std::vector<InstanceFilter> filters{};
  /// When an instance counts as down.
  DownPolicy down{};
};

}  // namespace custodian
