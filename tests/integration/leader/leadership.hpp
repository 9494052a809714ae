#pragma once

/// \file
/// Helpers for tests of elections: clients below one root, and records of the calls of listeners.

#include <atomic>
#include <list>
#include <mutex>
#include <vector>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leadership.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

/// The options of another client below the same root.
[[nodiscard]] inline ClientOptions beside(
    const TestClient& client, std::string servers = connect_string(),
    std::chrono::milliseconds session_timeout = std::chrono::seconds{10}) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  options.session_timeout = session_timeout;
  return options;
}

/// Records the calls of a listener, in order.
class Heard {
 public:
  [[nodiscard]] LeadershipListener listener() {
    return [this](Leadership now) {
      const std::lock_guard lock{mutex_};
      told_.push_back(now);
    };
  }
  [[nodiscard]] std::vector<Leadership> told() const {
    const std::lock_guard lock{mutex_};
    return told_;
  }
  [[nodiscard]] bool is(const std::vector<Leadership>& expected) const {
    return told() == expected;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Leadership> told_;
};

inline constexpr auto election_path = "/election";

/// A candidate with a session of its own.
struct LatchCandidate {
  explicit LatchCandidate(const TestClient& root, std::string id,
                          std::string servers = connect_string(), LeaseOptions lease = {},
                          std::chrono::milliseconds session_timeout = std::chrono::seconds{10})
      : client{beside(root, std::move(servers), session_timeout)},
        latch{client, election_path, {.id = std::move(id), .lease = lease}},
        listening{latch.on_leadership(heard.listener())} {}

  /// `heard` is declared before the client: a listener that is running when its subscription ends
  /// may go on until the client is closed.
  Heard heard;
  Client client;
  LeaderLatch latch;
  Subscription listening;
};

/// Starts the candidate, and waits until it is in the queue.
inline void stand(LatchCandidate& candidate, std::size_t as_number) {
  candidate.latch.start();
  REQUIRE(eventually([&] { return candidate.latch.participants().size() == as_number; }));
}

/// Starts the candidate, and waits until it leads and its listener was called. Without that wait
/// the listener could miss a leadership that ends at once.
inline Lease lead(LatchCandidate& candidate) {
  candidate.latch.start();
  Lease leadership = candidate.latch.wait_for(patience);
  REQUIRE(leadership);
  REQUIRE(eventually([&] { return candidate.heard.is({Leadership::gained}); }));
  return leadership;
}

}  // namespace custodian::tests
