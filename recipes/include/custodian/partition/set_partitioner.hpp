#pragma once

/// \file
/// SetPartitioner shares a set of names, the shards, among the members of a group: each shard is
/// owned by one of them. It does what kazoo's SetPartitioner does, but moves only the shards that
/// must move, and no member begins with a shard before its last owner has ended.
///
/// Each member is an ephemeral node, and all members that see the same nodes make the same plan: a
/// member that joins or leaves moves only its own share, one shard in N. A shard is a mutex, whose
/// lease the owner gets: with a fencing token, and the promise that its loss is reported before
/// another member can own the shard. A shard that the plan gives to another member stays with its
/// present owner until the lease is released, so work can be ended in order; the other member waits
/// meanwhile.
///
/// When not to use it: for one shard (LeaderLatch); for shards that should follow the load, which
/// the plan does not know; for thousands of shards, since each is a node and a watch; for work that
/// must never be done twice, unless the resource that it changes checks the fencing token.
///
/// All members must be given the same shards. While they are not (a new version is rolled out), a
/// shard that a member does not know may have no owner.
///
/// Threads: any. Lifetimes: the client may be destroyed first.

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lease/lease_options.hpp"
#include "custodian/nodes/persistent_node_options.hpp"

namespace custodian {

namespace recipes_detail {
class Partition;
using PartitionPtr = std::shared_ptr<Partition>;
}  // namespace recipes_detail

/// A shard that this member owns from now on.
struct OwnedShard {
  /// The shard.
  std::string name{};
  /// The ownership. Release it, by destroying it, when the work on the shard has ended: before that
  /// no other member can own the shard.
  Lease lease{};
  /// A stop is requested when the shard is to move to another member, when it is lost, and when the
  /// partitioner is closed. The work should then end soon.
  std::stop_token stop{};
};

/// The options of a SetPartitioner.
struct SetPartitionerOptions {
  /// The terms of each shard's lease.
  LeaseOptions lease{};
  /// What happens if another session has a member of this id. A program that is started again with
  /// the id of its last run takes over with `is_taken_over`.
  ForeignNode same_id = ForeignNode::waits;
  /// Called on the callback executor when an acquire of a shard has failed; the acquire is
  /// repeated.
  std::function<void(error_code)> on_error{};
};

/// Shares a set of shards among the members of a group.
/// \copydetails custodian/partition/set_partitioner.hpp
class CUSTODIAN_EXPORT SetPartitioner {
 public:
  /// Receives each shard that this member owns from now on, on the client's callback executor. The
  /// listener should pass the shard on to where the work is done, and return. An exception of the
  /// listener reaches that executor, and releases the shard, which is then acquired again.
  using Listener = std::function<void(OwnedShard)>;

  /// Begins to join the group below `path`: members are nodes of `path`/party, shards are locks of
  /// `path`/locks. Throws Error (invalid_argument) if the path, or the id or a shard as a name of a
  /// node, is not valid, if a shard is named twice, or if there is no listener. Does not wait for
  /// the servers.
  SetPartitioner(const Client& client, std::string path, std::vector<std::string> shards,
                 std::string id, Listener on_shard, SetPartitionerOptions options = {});
  SetPartitioner(const SetPartitioner&) = delete;
  SetPartitioner& operator=(const SetPartitioner&) = delete;
  /// Closes the partitioner. Does not wait. No new call of the listener begins then; a call that is
  /// under way may still be running.
  ~SetPartitioner();

  /// The id of this member.
  [[nodiscard]] const std::string& id() const noexcept;
  /// The shards that this member owns now, and is not asked to give up, by name.
  [[nodiscard]] std::vector<std::string> shards() const;
  /// The members that the plan is made of, by id; none before they are known.
  [[nodiscard]] std::vector<std::string> members() const;
  /// Leaves the group. A stop is requested for each shard (`OwnedShard::stop`); the program must
  /// still release each shard's lease. Returns at once. A second call does nothing.
  void close();

 private:
  recipes_detail::PartitionPtr partition_;
};

}  // namespace custodian
