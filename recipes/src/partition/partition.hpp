#pragma once

/// \file
/// Partition is the state behind a SetPartitioner: the member's node, the plan that follows the
/// group, and a candidacy for each shard that the plan gives to this member.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/strand.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/authoring/event.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/partition/set_partitioner.hpp"
#include "leader/candidacy.hpp"

namespace custodian::recipes_detail {

class Partition : public std::enable_shared_from_this<Partition> {
 public:
  /// Throws Error for wrong arguments.
  Partition(const Client& client, std::string path, std::vector<std::string> shards, std::string id,
            SetPartitioner::Listener on_shard, SetPartitionerOptions options);

  // -- Any thread ---------------------------------------------------------------------------------

  /// Begins to follow the group, and to stand for shards. Called once.
  void start();
  void close();
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::vector<std::string> owned() const;
  [[nodiscard]] std::vector<std::string> members() const;

 private:
  struct Shard {
    std::string name;
    CandidacyPtr terms;     ///< makes the candidacies
    CandidacyPtr standing;  ///< the present candidacy; null if the plan has ended it
    bool is_planned = false;
  };

  // Each of these runs on the strand.
  [[nodiscard]] static boost::asio::awaitable<void> begin(PartitionPtr self);
  [[nodiscard]] static boost::asio::awaitable<void> keep(PartitionPtr self, std::string name);
  [[nodiscard]] Shard& shard(std::string_view name);
  void follow(const MirrorChange& change);
  void plan();
  void end_all();

  void give(const std::string& shard, Lease lease, std::stop_token stop);
  void note_owned(const std::string& shard, bool is_owned);

  const Client client_;
  const std::string id_;
  const SetPartitioner::Listener on_shard_;
  const CancellationPtr over_;
  std::atomic<bool> closed_ = false;  ///< no new call of the listener begins
  /// Hands out the shards one at a time, even if several threads run the callback executor.
  const boost::asio::strand<boost::asio::any_io_executor> turn_;
  std::vector<Shard> shards_;
  AsyncEvent planned_;
  std::set<std::string> seen_;  ///< the members as the mirror reports them
  bool is_synced_ = false;      ///< whether the mirror was in sync once

  std::optional<PersistentNode> node_;
  std::optional<PathChildrenCache> party_;
  std::optional<Subscription> following_;

  mutable std::mutex mutex_;  ///< guards what follows
  std::set<std::string> members_;
  std::set<std::string> owned_;
};

}  // namespace custodian::recipes_detail
