#include "custodian/nodes/group_member.hpp"

#include "custodian/authoring/path.hpp"

namespace custodian {

namespace {

std::string member_path(const std::string& group, const std::string& id) {
  const bool is_name = !id.empty() && id.find('/') == std::string::npos;
  if (!is_name) {
    throw Error{Errc::invalid_argument, "GroupMember", group,
                "the id is a node's name: not empty, and without a slash"};
  }
  return join(group, id);
}

}  // namespace

GroupMember::GroupMember(const Client& client, std::string group, std::string id,
                         std::string payload, GroupMemberOptions options)
    : Group{client, std::move(group)},
      id_{std::move(id)},
      node_{client, member_path(path(), id_), std::move(payload),
            PersistentNodeOptions{.acl = std::move(options.acl), .foreign_node = options.same_id}} {
}

Group::Members GroupMember::members() const {
  Members members = Group::members();
  if (node_.state() != PersistentNodeState::closed) members.insert_or_assign(id_, node_.data());
  return members;
}

}  // namespace custodian
