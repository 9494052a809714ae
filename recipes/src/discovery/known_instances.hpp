#pragma once

/// \file
/// KnownInstances has the instances of a service as their nodes say, decoded once each. Pure.

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
  /// The node has this data now. Returns why they cannot be decoded, if they cannot: the instance
  /// is then not known, and an earlier one of the same node no more.
  std::optional<std::string> put(std::string_view node, std::string_view data);
  /// The node is gone.
  void remove(std::string_view node);

  /// The instances in the order of their ids, and of their nodes where ids are equal.
  [[nodiscard]] const std::vector<InstancePtr>& all();
  /// The nodes whose data cannot be decoded, in their order.
  [[nodiscard]] std::vector<std::string> malformed() const;

 private:
  /// Null for a node whose data cannot be decoded.
  std::map<std::string, InstancePtr, std::less<>> by_node_;
  std::vector<InstancePtr> all_;
  bool is_sorted_ = true;  ///< whether `all_` is what `by_node_` has
};

}  // namespace custodian::discovery_detail
