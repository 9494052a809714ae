#pragma once

/// \file
/// The options of a ServiceDiscovery. A value type.

#include <optional>

#include "custodian/acl.hpp"
#include "custodian/discovery/instance_json.hpp"
#include "custodian/nodes/persistent_node_options.hpp"

namespace custodian {

/// The options of a ServiceDiscovery.
struct DiscoveryOptions {
  /// Whether the JSON of an instance says that it is enabled.
  EnabledMember enabled_member = EnabledMember::if_disabled;
  /// The permissions of the nodes. Default: the ACL that the client's ACL provider chooses.
  std::optional<Acl> acl{};
  /// What happens if another client writes the node of an instance, to disable it for example.
  ForeignWrite foreign_write = ForeignWrite::is_undone;
};

}  // namespace custodian
