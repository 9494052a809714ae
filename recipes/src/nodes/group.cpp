#include "custodian/nodes/group.hpp"

#include "custodian/authoring/path.hpp"

namespace custodian {

namespace recipes_detail {

namespace {

constexpr std::size_t digits = 32;

bool begins_with_uuid(std::string_view name) {
  return name.size() > digits &&
         name.substr(0, digits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::optional<GroupEntry> member_of(std::string_view name, std::string_view data,
                                    GroupNaming naming) {
  switch (naming) {
    case GroupNaming::curator: return GroupEntry{std::string{name}, std::string{data}};
    case GroupNaming::kazoo_party:
      if (!begins_with_uuid(name) || name.substr(digits) != "__party__") return std::nullopt;
      return GroupEntry{std::string{data}, {}};
    case GroupNaming::kazoo_shallow:
      if (!begins_with_uuid(name) || name[digits] != '-') return std::nullopt;
      return GroupEntry{std::string{name.substr(digits + 1)}, {}};
  }
  return std::nullopt;
}

std::optional<GroupChange> group_change_of(const MirrorChange& change, std::string_view group,
                                           GroupNaming naming) {
  const MirroredNodePtr& node = change.node ? change.node : change.before;
  if (!node || node->path == group) return std::nullopt;
  auto member = member_of(name_of(node->path), node->data, naming);
  if (!member) return std::nullopt;
  switch (change.kind) {
    case MirrorChangeKind::added: return GroupChange{GroupChangeKind::joined, std::move(*member)};
    case MirrorChangeKind::changed:
      return GroupChange{GroupChangeKind::changed, std::move(*member)};
    case MirrorChangeKind::removed: return GroupChange{GroupChangeKind::left, std::move(*member)};
    case MirrorChangeKind::synced: break;
  }
  return std::nullopt;
}

}  // namespace recipes_detail

Group::Group(const Client& client, std::string path, GroupNaming naming)
    : mirror_{client, std::move(path)}, naming_{naming} {}

Group::Members Group::members() const {
  Members members;
  for (const MirroredNodePtr& node : mirror_.children()) {
    auto member = recipes_detail::member_of(name_of(node->path), node->data, naming_);
    if (member) members.emplace(std::move(member->id), std::move(member->payload));
  }
  return members;
}

Subscription Group::on_change(Listener listener) const {
  if (!listener) throw Error{Errc::invalid_argument, "on_change", path(), "no listener"};
  return mirror_.on_change([listener = std::move(listener), group = path(),
                            naming = naming_](const MirrorChange& change) {
    const auto of_group = recipes_detail::group_change_of(change, group, naming);
    if (of_group) listener(*of_group);
  });
}

}  // namespace custodian
