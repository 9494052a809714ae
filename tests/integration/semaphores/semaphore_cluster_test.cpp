// Permits of a semaphore while an ensemble loses members, and its quorum.

#include <algorithm>
#include <atomic>
#include <list>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "integration/clusters.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::semaphore_cluster_test {
namespace {

using namespace std::chrono_literals;
using testing::TestingCluster;

// The session timeout is longer than any outage of a member here, however slow the machine is.
constexpr auto session_timeout = 60s;

TEST_CASE("an ensemble's servers are killed in turn: permits stay, and others are had") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingCluster cluster{secured(quick_cluster())};
  TestClient client{"killed-members", connect_string(cluster), session_timeout};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  const Lease held = semaphore.acquire();
  for (std::size_t member = 0; member < cluster.size(); ++member) {
    cluster.kill(member);
    const AcquireResult another = semaphore.try_acquire_for(patience);
    CHECK(another);
    CHECK(held.state() != LeaseState::lost);
    cluster.start(member);
    cluster.wait_until_serving();
  }
  CHECK(held.state() == LeaseState::held);
}

TEST_CASE(
    "20 clients of an ensemble that loses its quorum and regains it go on, and never have "
    "too many permits") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingCluster cluster{secured(quick_cluster())};
  TestClient first{"lost-quorum", connect_string(cluster), session_timeout};
  constexpr int maximum = 3;
  std::atomic<int> inside = 0;
  std::atomic<bool> too_many = false;
  std::atomic<bool> enough = false;

  struct Worker {
    std::atomic<int> turns = 0;
    std::future<void> end{};
  };
  std::list<Worker> workers(20);
  for (Worker& worker : workers) {
    worker.end = std::async(std::launch::async, [&] {
      ClientOptions options = options_for(connect_string(cluster));
      options.session_timeout = session_timeout;
      options.name_space = first.root();
      Client client{options};
      client.wait_connected();
      InterProcessSemaphore semaphore{client, "/semaphore", maximum};
      while (!enough) {
        const Lease permit = semaphore.acquire();
        if (++inside > maximum) too_many = true;
        std::this_thread::sleep_for(1ms);
        --inside;
        ++worker.turns;
      }
    });
  }
  const auto each_has_a_turn = [&] {
    std::vector<int> before;
    for (const Worker& worker : workers) before.push_back(worker.turns);
    return eventually([&] {
      auto had = before.begin();
      return std::ranges::all_of(workers,
                                 [&](const Worker& worker) { return worker.turns > *had++; });
    });
  };
  CHECK(each_has_a_turn());
  // The members are killed, not paused: members of ZooKeeper 3.8.0 that were paused under load may
  // come back as a quorum, with a leader, that commits nothing any more.
  for (int times = 0; times < 2; ++times) {
    cluster.lose_quorum(testing::Loss::kill);
    cluster.regain_quorum();
    CHECK(each_has_a_turn());
  }
  enough = true;
  for (Worker& worker : workers) worker.end.get();
  CHECK_FALSE(too_many);
  CHECK(eventually([&] {
    return names_below(*first, "/semaphore/locks").empty() &&
           names_below(*first, "/semaphore/leases").empty();
  }));
}

}  // namespace
}  // namespace custodian::tests::semaphore_cluster_test
