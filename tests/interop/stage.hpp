#pragma once

/// \file
/// Stage is the server that all clients of a test use. The server's figures show which client waits
/// for which.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "driver.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

class Stage {
 public:
  explicit Stage(std::string_view test) : client_{test}, root_{client_.root()} {
    // The servers remove a container that is empty again. Curator creates missing containers one by
    // one, and fails if one of them is removed meanwhile: with this node none is empty.
    client_->create("/stage");
  }

  /// A path for all clients of this test alone.
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  /// Waits until the lock at a path() has `length` contenders: our release does not wait until its
  /// node is deleted. Returns whether the lock has so many in time.
  [[nodiscard]] bool becomes(const std::string& path, std::size_t length);
  /// Waits until `waiter` is a waiter behind `ahead`: it has a node in the queue, has listed the
  /// queue, and watches a node of `ahead`. Returns false if it is not.
  [[nodiscard]] bool waits(Session& waiter, Session& ahead, const std::string& path);

  /// Waits until the data of the session's only node below the path are an identity again, and no
  /// longer a request to release. Returns false if they are not in time.
  [[nodiscard]] bool becomes_named(Session& owner, const std::string& path);

  /// The full paths of this session's nodes below the path.
  [[nodiscard]] std::vector<std::string> nodes(Session& owner, const std::string& path);
  /// The sessions that watch nodes of this session below the path.
  [[nodiscard]] std::vector<std::int64_t> watchers(Session& watched, const std::string& path);

  [[nodiscard]] Client& client() { return *client_; }

 private:
  /// The full paths of the contenders' nodes, with their owners.
  [[nodiscard]] std::map<std::string, std::int64_t> owners(const std::string& path);

  TestClient client_;
  std::string root_;
};

}  // namespace custodian::tests
