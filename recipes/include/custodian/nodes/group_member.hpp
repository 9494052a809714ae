#pragma once

/// \file
/// GroupMember is a member of a group, and sees the others. It is Apache Curator's class of this
/// name, and compatible with it on the wire: an ephemeral child of the group's path, whose name is
/// the member's id and whose data are its payload.
///
/// The object joins when it is made, and leaves when it is destroyed. In between it is a member
/// through broken connections and lost sessions, as PersistentNode says. Ids are unique: while
/// another session has a member of this id, the object waits until that member has left; with
/// `ForeignNode::is_taken_over`, a restarted program whose last session still lives takes over at
/// once.
///
/// When not to use it: to look only (Group); to decide who may act (LeaderLatch).
///
/// Threads: any. Lifetimes: the client may be destroyed first.

#include <optional>
#include <string>
#include <utility>

#include "custodian/acl.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/nodes/group.hpp"
#include "custodian/nodes/persistent_node.hpp"

namespace custodian {

/// The options of a GroupMember.
struct GroupMemberOptions {
  /// What happens if another session has a member of this id.
  ForeignNode same_id = ForeignNode::waits;
  /// The permissions of the member's node. Default: what the client's ACL provider chooses.
  std::optional<Acl> acl{};
};

/// Takes part in a group, and sees its members.
/// \copydetails custodian/nodes/group_member.hpp
class CUSTODIAN_EXPORT GroupMember : public Group {
 public:
  /// Begins to join. Throws Error (invalid_argument) if the group's path, or the id as a name below
  /// it, is not valid, or if the payload is larger than the servers accept, or if this client has a
  /// member of this id already.
  GroupMember(const Client& client, std::string group, std::string id, std::string payload = {},
              GroupMemberOptions options = {});

  /// The id of this member.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// The members, as Group::members() returns them, but always with this member and its newest
  /// payload.
  [[nodiscard]] Members members() const;
  /// What is known of the member's own node: `present` once the object has joined.
  [[nodiscard]] PersistentNodeState node_state() const { return node_.state(); }
  /// PersistentNode::on_state() of the member's own node.
  [[nodiscard]] Subscription on_node_state(PersistentNode::Listener listener) const {
    return node_.on_state(std::move(listener));
  }

  /// Waits until the object has joined: PersistentNode::async_wait_present().
  template <typename Token>
  auto async_wait_joined(OperationOptions options, Token&& token) const {
    return node_.async_wait_present(options, std::forward<Token>(token));
  }
  /// The blocking form of async_wait_joined(). Throws Error.
  void wait_joined(OperationOptions options = {}) const { node_.wait_present(options); }

  /// Changes the payload: PersistentNode::async_set_data().
  template <typename Token>
  auto async_set_payload(std::string payload, OperationOptions options, Token&& token) {
    return node_.async_set_data(std::move(payload), options, std::forward<Token>(token));
  }
  /// The blocking form of async_set_payload(). Throws Error.
  void set_payload(std::string payload, OperationOptions options = {}) {
    node_.set_data(std::move(payload), options);
  }

  /// Leaves the group: PersistentNode::async_close(). The object still sees the others.
  template <typename Token>
  auto async_leave(Deadline deadline, Token&& token) {
    return node_.async_close(deadline, std::forward<Token>(token));
  }
  /// The blocking form of async_leave(). Throws Error.
  bool leave(Deadline deadline = {}) { return node_.close(deadline); }

 private:
  std::string id_;
  PersistentNode node_;
};

}  // namespace custodian
