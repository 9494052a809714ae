/// \file
/// One quorum lock over three standalone servers, which are killed one by one.

#include "custodian/lock_sets/quorum_lock.hpp"

#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::quorum_lock_test {
namespace {

using namespace std::chrono_literals;

constexpr auto session_timeout = 3s;

/// Three servers, each an ensemble of its own.
struct Servers {
  Servers()
      : each{std::make_unique<Server>(), std::make_unique<Server>(), std::make_unique<Server>()} {}
  Server& operator[](std::size_t index) { return *each[index]; }
  std::array<std::unique_ptr<Server>, 3> each;
};

/// A client of each server, and the quorum lock on them.
struct QuorumContender {
  explicit QuorumContender(Servers& servers, std::chrono::nanoseconds reach = 2s)
      : clients{client(servers[0]), client(servers[1]), client(servers[2])},
        lock{{clients[0], clients[1], clients[2]}, "/quorum", {.max_unreachable = reach}} {}

  static Client client(const Server& server) {
    ClientOptions options = options_for(server.connect_string());
    options.session_timeout = session_timeout;
    options.touch_interval = testing::TestingServerOptions{}.tick_time * 3 / 4;
    return Client{options};
  }
  std::array<Client, 3> clients;
  QuorumLock lock;
};

bool is_empty(QuorumContender& contender) {
  return std::ranges::all_of(contender.clients,
                             [](Client& client) { return names_below(client, "/quorum").empty(); });
}

TEST_CASE("a quorum is held with one server killed, and lost, and told, with two") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  QuorumContender contender{servers, patience};
  for (Client& client : contender.clients) client.wait_connected();
  LeaseGroup leases = contender.lock.acquire();
  REQUIRE(leases.leases().size() == 3);
  auto lost = begun<>([&](auto done) { leases.async_wait_lost(std::move(done)); });
  std::atomic<bool> told = false;
  const std::stop_callback on_lost{leases.lost(), [&] { told = true; }};

  servers[1].kill();
  CHECK(eventually([&] { return leases.leases()[1].state() == LeaseState::lost; }));
  CHECK(leases.state() != LeaseState::lost);
  CHECK(leases.remaining() > 0s);
  CHECK_FALSE(told);
  CHECK(lost.wait_for(0s) == std::future_status::timeout);

  servers[0].kill();
  REQUIRE(lost.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(lost.get()));
  CHECK(eventually([&] { return told.load(); }));
  CHECK(leases.state() == LeaseState::lost);
  CHECK(leases.remaining() == 0s);

  leases.release();
  servers[0].start();
  servers[1].start();
  QuorumContender next{servers};
  CHECK(acquired(next.lock.try_acquire_for(patience)));
}

TEST_CASE("with one server away from the start a quorum is had; with two, when one is back") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  servers[0].kill();
  QuorumContender contender{servers, 1s};
  LeaseGroup leases = contender.lock.acquire();
  CHECK(leases.leases().size() == 2);
  CHECK(leases.state() == LeaseState::held);
  leases.release();
  servers[2].kill();
  std::atomic<bool> began_again = false;
  AcquireOptions options;
  options.on_requeued = [&] { began_again = true; };
  auto waiting =
      begun<LeaseGroup>([&](auto done) { contender.lock.async_acquire(options, std::move(done)); });
  CHECK(eventually([&] { return began_again.load(); }));
  servers[2].start();
  REQUIRE(waiting.wait_for(patience) == std::future_status::ready);
  auto [error, had] = waiting.get();
  CHECK_FALSE(error);
  CHECK(had.leases().size() == 2);
  had.release();
  servers[0].start();
  CHECK(eventually([&] { return is_empty(contender); }));
}

TEST_CASE("a server that is paused is passed over by who waits in its queue") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  QuorumContender contender{servers, 1s};
  Client other = QuorumContender::client(servers[0]);
  InterProcessMutex first{other, "/quorum"};
  Lease in_the_way = first.acquire();
  std::atomic<bool> waits = false;
  AcquireOptions options;
  options.on_position = [&](auto&&...) { waits = true; };
  auto waiting =
      begun<LeaseGroup>([&](auto done) { contender.lock.async_acquire(options, std::move(done)); });
  CHECK(eventually([&] { return waits.load(); }));
  servers[0].pause();
  const bool had = waiting.wait_for(patience) == std::future_status::ready;
  servers[0].resume();
  REQUIRE(had);
  auto [error, leases] = waiting.get();
  CHECK_FALSE(error);
  CHECK(leases.leases().size() == 2);
  leases.release();
  in_the_way.release();
  CHECK(eventually([&] { return is_empty(contender); }));
}

TEST_CASE("several contend for a quorum, and never two have it, while servers are restarted") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  constexpr int contenders = 4;
  constexpr int rounds = 6;
  std::mutex mutex;
  std::array<LeaseGroup, contenders> inside;  // empty for a contender that holds nothing
  bool two_at_once = false;
  std::atomic<int> lost = 0;
  std::atomic<int> rounds_done = 0;
  const auto contend = [&](std::size_t index) {
    QuorumContender contender{servers, 1s};
    for (int k = 0; k < rounds; ++k) {
      LeaseGroup leases = contender.lock.acquire();
      {
        const std::lock_guard guard{mutex};
        // A contender whose leases are still in `inside` must have lost them before this grant.
        two_at_once = two_at_once || std::ranges::any_of(inside, [](const LeaseGroup& former) {
                        return former && former.state() != LeaseState::lost;
                      });
        inside[index] = leases.share();
      }
      std::this_thread::sleep_for(10ms);  // some work; the test does not depend on it
      if (leases.state() == LeaseState::lost) ++lost;
      {
        const std::lock_guard guard{mutex};
        inside[index].release();
      }
      leases.release();
      ++rounds_done;
    }
  };
  std::vector<std::future<void>> threads;
  for (std::size_t i = 0; i < contenders; ++i) {
    threads.push_back(std::async(std::launch::async, contend, i));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(eventually([&] { return rounds_done > static_cast<int>(i) * 4; }));
    servers[i].restart();
  }
  for (auto& thread : threads) {
    REQUIRE(thread.wait_for(2 * patience) == std::future_status::ready);
    CHECK_NOTHROW(thread.get());
  }
  CHECK(rounds_done == contenders * rounds);
  CHECK_FALSE(two_at_once);
  CHECK(lost * 2 < contenders * rounds);
  QuorumContender last{servers};
  CHECK(eventually([&] { return is_empty(last); }));
}

TEST_CASE("a try for a quorum, and one with a limit, fail while another has it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  QuorumContender mine{servers, patience};
  QuorumContender yours{servers, patience};
  for (Client& client : yours.clients) client.wait_connected();
  std::unique_lock lock{mine.lock};
  const GroupAcquireResult late = yours.lock.try_acquire_for(3s);
  CHECK_FALSE(late);
  CHECK(late.reason != NotAcquired::none);
  const GroupAcquireResult tried = yours.lock.try_acquire();
  CHECK_FALSE(tried);
  CHECK(tried.blocked_by);
  CHECK_FALSE(yours.lock.try_lock());
  lock.unlock();
  CHECK(eventually([&] { return is_empty(mine); }));
  CHECK(acquired(yours.lock.try_acquire()));
}

}  // namespace
}  // namespace custodian::tests::quorum_lock_test
