#include "custodian/partition/set_partitioner.hpp"

#include <utility>

#include "partition/partition.hpp"

namespace custodian {

SetPartitioner::SetPartitioner(const Client& client, std::string path,
                               std::vector<std::string> shards, std::string id, Listener on_shard,
                               SetPartitionerOptions options)
    : partition_{std::make_shared<recipes_detail::Partition>(
          client, std::move(path), std::move(shards), std::move(id), std::move(on_shard),
          std::move(options))} {
  partition_->start();
}

SetPartitioner::~SetPartitioner() { close(); }

const std::string& SetPartitioner::id() const noexcept { return partition_->id(); }
std::vector<std::string> SetPartitioner::shards() const { return partition_->owned(); }
std::vector<std::string> SetPartitioner::members() const { return partition_->members(); }
void SetPartitioner::close() { partition_->close(); }

}  // namespace custodian
