#pragma once

/// \file
/// KeptPaths knows the paths at which a client keeps persistent nodes: two objects at one path
/// would take the node from each other.

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "custodian/authoring/service.hpp"
#include "nodes/node_keeper.hpp"

namespace custodian::recipes_detail {

/// One for each client. Threads: enter() may be called on any.
class KeptPaths final : public Service {
 public:
  explicit KeptPaths(const boost::asio::any_io_executor&) {}

  /// Registers a keeper. Returns the former keeper of the same path, if that one has not ended yet.
  /// Throws Error: invalid_argument if the former keeper is not being closed, closed if the client
  /// is closing.
  [[nodiscard]] NodeKeeperPtr enter(const NodeKeeperPtr& keeper);
  void begin_shutdown() override;

 private:
  std::mutex mutex_;  ///< guards what follows
  std::map<std::string, std::weak_ptr<NodeKeeper>> all_;
  bool is_closing_ = false;
  std::uint64_t number_ = 0;  ///< tells nodes with unique names apart
};

}  // namespace custodian::recipes_detail
