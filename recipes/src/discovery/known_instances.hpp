#pragma once

/// \file
/// KnownInstances keeps the instances of a service, each decoded once from its node's data. Pure.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/discovery/service_instance.hpp"

namespace custodian::discovery_detail {

using InstancePtr = std::shared_ptr<const ServiceInstance>;

/// Threads: one at a time.
class KnownInstances {
 public:
  /// Notes the present data of a node. If they cannot be decoded, it returns the reason, and the
  /// node's earlier instance, if any, is forgotten.
  std::optional<std::string> put(std::string_view node, std::string_view data);
  /// Forgets a node that is gone.
  void remove(std::string_view node);

  /// The instances in the order of their ids, and of their nodes where ids are equal.
  [[nodiscard]] const std::vector<InstancePtr>& all();
  /// The nodes whose data cannot be decoded, in their order.
  [[nodiscard]] std::vector<std::string> malformed() const;

 private:
  /// Null for a node whose data cannot be decoded.
  std::map<std::string, InstancePtr, std::less<>> by_node_;
  std::vector<InstancePtr> all_;
  bool is_sorted_ = true;  ///< whether `all_` is up to date with `by_node_`
};

}  // namespace custodian::discovery_detail
