#pragma once

/// \file
/// Group shows the members of a group: each member is an ephemeral child of the group's path, like
/// those of Apache Curator's GroupMember. It also reads the parties of kazoo (Python), in which
/// Custodian's programs do not take part.
///
/// A member that crashes is a member until its session has timed out; so a group says who was there
/// a moment ago, and not who may act: an election or a lock decides that.
///
/// When not to use it: for groups of many hundreds that change all the time: each change notifies
/// each program that looks at the group, and costs each of them a listing. To take part in a group
/// (GroupMember).
///
/// Threads: any. Lifetimes: the client may be destroyed first (waits then fail with closed, and the
/// last members stay readable).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/client.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/export.hpp"
#include "custodian/mirror/path_children_cache.hpp"

namespace custodian {

/// How the members of a group are named.
enum class GroupNaming : std::uint8_t {
  curator,        ///< the child's name is the id, its data the payload
  kazoo_party,    ///< kazoo's `Party`: `<32 hexadecimal digits>__party__`, the data are the id
  kazoo_shallow,  ///< kazoo's `ShallowParty`: `<32 hexadecimal digits>-<id>`
};

/// A member of a group. A value type.
struct GroupEntry {
  std::string id{};       ///< the member's id
  std::string payload{};  ///< the member's data, any bytes; empty for members of kazoo
  /// Equal if both are equal.
  friend bool operator==(const GroupEntry&, const GroupEntry&) = default;
};

/// What has happened to a member.
enum class GroupChangeKind : std::uint8_t {
  joined,  ///< the member has joined, or was there when the listener was added
  /// The member has another payload, or its process was started again and has taken the place of
  /// the old node. The member was never missing.
  changed,
  left,  ///< the member has left
};

/// One change of a group. A value type.
struct GroupChange {
  GroupChangeKind kind = GroupChangeKind::joined;  ///< what has happened
  GroupEntry member{};  ///< the member, with its payload before the change if it has left
};

namespace recipes_detail {

/// The member that a child of a group stands for; nothing if the child is not a member.
[[nodiscard]] CUSTODIAN_EXPORT std::optional<GroupEntry> member_of(std::string_view name,
                                                                   std::string_view data,
                                                                   GroupNaming naming);
/// The change of a group that follows from a change of its mirror; nothing if no member has
/// changed.
[[nodiscard]] CUSTODIAN_EXPORT std::optional<GroupChange> group_change_of(
    const MirrorChange& change, std::string_view group, GroupNaming naming);

}  // namespace recipes_detail

/// The members of a group, as they come and go.
/// \copydetails custodian/nodes/group.hpp
class CUSTODIAN_EXPORT Group {
 public:
  /// From ids to payloads. If several members have the same id, as in kazoo's parties, the map has
  /// one of them.
  using Members = std::map<std::string, std::string>;
  /// Receives one change.
  using Listener = std::function<void(const GroupChange&)>;

  /// Begins to look at the group, whose path need not exist. Throws Error (invalid_argument) if
  /// `path` is not a valid path.
  Group(const Client& client, std::string path, GroupNaming naming = GroupNaming::curator);

  /// The path of the group.
  [[nodiscard]] const std::string& path() const noexcept { return mirror_.path(); }
  /// The members, as far as they are known. Sends no request. See state().
  [[nodiscard]] Members members() const;
  /// Whether the members are those of the servers: `synced`, or why not. See MirrorState.
  [[nodiscard]] MirrorState state() const { return mirror_.state(); }

  /// Waits without limit until the members are those of the servers.
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: those of Mirror::async_wait_synced().
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_synced(Token&& token) const {
    return mirror_.async_wait_synced(std::forward<Token>(token));
  }
  /// The blocking form of async_wait_synced(). Throws Error; `stop` ends it with operation_aborted.
  void wait_synced(std::stop_token stop = {}) const { mirror_.wait_synced(std::move(stop)); }

  /// Notifies the listener of the present members, and then of every change, until the subscription
  /// is destroyed. All else is as for Mirror::on_change().
  [[nodiscard]] Subscription on_change(Listener listener) const;

 private:
  PathChildrenCache mirror_;
  GroupNaming naming_;
};

}  // namespace custodian
