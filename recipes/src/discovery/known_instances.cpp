#include "known_instances.hpp"

#include <utility>

#include "custodian/discovery/instance_json.hpp"

namespace custodian::discovery_detail {

std::optional<std::string> KnownInstances::put(std::string_view node, std::string_view data) {
  DecodedInstance decoded = decode_instance(data);
  InstancePtr& known = by_node_[std::string{node}];
  known.reset();
  if (decoded.instance) {
    known = std::make_shared<const ServiceInstance>(std::move(*decoded.instance));
  }
  is_sorted_ = false;
  if (known) return std::nullopt;
  return std::move(decoded.fault);
}

void KnownInstances::remove(std::string_view node) {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return;
  by_node_.erase(found);
  is_sorted_ = false;
}

std::vector<std::string> KnownInstances::malformed() const {
  std::vector<std::string> nodes;
  for (const auto& [node, instance] : by_node_) {
    if (!instance) nodes.push_back(node);
  }
  return nodes;
}

const std::vector<InstancePtr>& KnownInstances::all() {
  if (is_sorted_) return all_;
  std::multimap<std::string_view, InstancePtr> by_id;  // equal ids stay in the order of their nodes
  for (const auto& [node, instance] : by_node_) {
    if (instance) by_id.emplace(instance->id, instance);
  }
  all_.clear();
  for (auto& [id, instance] : by_id) all_.push_back(std::move(instance));
  is_sorted_ = true;
  return all_;
}

}  // namespace custodian::discovery_detail
