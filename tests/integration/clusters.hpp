#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "custodian/testing/testing_cluster.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests {

inline constexpr std::chrono::seconds cluster_patience{30};

/// Options with short limits, so that a member that is cut off notices it soon. The limits are long
/// enough for a busy machine.
[[nodiscard]] inline testing::TestingClusterOptions quick_cluster() {
  testing::TestingClusterOptions options;
  options.init_limit = 20;
  options.sync_limit = 5;
  options.server.tick_time = std::chrono::milliseconds{250};
  return options;
}

[[nodiscard]] inline bool eventually_in_cluster(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + cluster_patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return true;
}

/// Returns whether a member accepts a write. The node that is written ends with its session.
[[nodiscard]] inline bool takes_writes(const testing::ServerEndpoint& member) {
  try {
    testing::WireSession session{member, std::chrono::seconds{5}};
    const bool taken = session.create("/written", "", 1) == 0;
    session.close();
    return taken;
  } catch (const testing::TestingError&) {
    return false;
  }
}

}  // namespace custodian::tests
