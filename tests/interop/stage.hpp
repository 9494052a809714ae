#pragma once

/// \file
/// Stage is the server of all clients, and finds out there which waits for which.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "driver.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

class Stage {
 public:
  explicit Stage(std::string_view test) : client_{test}, root_{client_.root()} {}

  /// A path that only this test knows, for everybody.
  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  /// Whether so many contend for the lock at a path(), soon: a release of ours does not wait until
  /// its node is gone.
  [[nodiscard]] bool becomes(const std::string& path, std::size_t length);
  /// Whether `waiter` becomes a waiter for `ahead`: stands in the queue, has looked who is before
  /// it, and watches a node of its.
  [[nodiscard]] bool waits(Session& waiter, Session& ahead, const std::string& path);

  /// Whether the only node of this session below the path comes to have an identity, and no
  /// request in the place of it.
  [[nodiscard]] bool becomes_named(Session& owner, const std::string& path);

  /// The full paths of this session's nodes below the path.
  [[nodiscard]] std::vector<std::string> nodes(Session& owner, const std::string& path);
  /// The sessions that watch nodes of this session below the path.
  [[nodiscard]] std::vector<std::int64_t> watchers(Session& watched, const std::string& path);

  [[nodiscard]] Client& client() { return *client_; }

 private:
  /// The full paths of the contenders' nodes, and whose they are.
  [[nodiscard]] std::map<std::string, std::int64_t> owners(const std::string& path);

  TestClient client_;
  std::string root_;
};

}  // namespace custodian::tests
