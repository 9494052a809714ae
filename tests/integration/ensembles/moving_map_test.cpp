/// \file
/// A moving map of two standalone servers: processes lock many paths while the map moves back and
/// forth, one server is away for a while, and sessions are ended.

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "custodian/ensembles/moving_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::moving_map_test {
namespace {

using namespace std::chrono_literals;

/// Two servers, each an ensemble of its own.
struct Servers {
  Server east;
  Server west;
};

EnsembleLayout layout_of(int east, int west) {
  return {.depth = 2, .ensembles = {{"east", east}, {"west", west}}};
}

ClientOptions options_of(const Server& server, const std::string& root) {
  ClientOptions options = options_for(server.connect_string());
  options.touch_interval = testing::TestingServerOptions{}.tick_time * 3 / 4;
  options.name_space = root;
  return options;
}

MovingMapOptions quick() {
  MovingMapOptions options;
  options.announce_within = 50ms;
  options.look_every = 20ms;
  return options;
}

/// A process, with clients of its own.
struct MapProcess {
  MapProcess(const Servers& servers, const std::string& root)
      : east{options_of(servers.east, root)},
        west{options_of(servers.west, root)},
        map{{{"east", east}, {"west", west}}, quick()} {
    east.wait_connected();
    west.wait_connected();
  }

  Client east;
  Client west;
  MovingMap map;
};

std::string path_number(std::size_t number) { return "/orders/" + std::to_string(number); }

/// The holders of each path, as they report themselves. Threads: any.
class HolderJudge {
 public:
  explicit HolderJudge(std::size_t paths) : records_(paths) {}

  void on_grant(std::size_t path, const FencingToken& token) {
    const std::lock_guard lock{mutex_};
    Record& record = records_[path];
    if (record.is_held) ++two_holders;
    if (token <= record.last) ++fallen_tokens;
    record = {true, token};
    ++grants;
  }
  /// Called before the release, or when the holder has been notified of its loss.
  void on_end(std::size_t path, const FencingToken& token) {
    const std::lock_guard lock{mutex_};
    if (records_[path].last == token) records_[path].is_held = false;
  }

  std::atomic<int> two_holders = 0;
  std::atomic<int> fallen_tokens = 0;
  std::atomic<int> grants = 0;
  std::atomic<int> failures = 0;  ///< acquires without a lease

 private:
  struct Record {
    bool is_held = false;
    FencingToken last{};
  };
  std::mutex mutex_;
  std::vector<Record> records_;
};

/// Acquires and releases paths, until it is stopped.
void work(MapProcess& process, HolderJudge& judge, std::size_t paths, std::size_t first,
          const std::stop_token& stop) {
  for (std::size_t i = first; !stop.stop_requested(); ++i) {
    const std::size_t path = i * 7 % paths;
    MovingMutex mutex{process.map, path_number(path)};
    MovingAcquireResult result = mutex.try_acquire_for(patience);
    if (!result) {
      ++judge.failures;
      continue;
    }
    const FencingToken token = result.lease.token();
    judge.on_grant(path, token);
    {
      // The judge learns of a loss before the servers can pass the lock on.
      const std::stop_callback on_loss{result.lease.lost(), [&] { judge.on_end(path, token); }};
      std::this_thread::sleep_for(1ms);
    }
    judge.on_end(path, token);
  }
}

TEST_CASE(
    "moving map: locks have one holder, and tokens grow, while the map moves back and forth") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  const std::string root = unique_root("moving");
  constexpr std::size_t paths = 40;
  constexpr std::size_t process_count = 3;
  constexpr std::size_t threads_each = 3;
  MapProcess publisher{servers, root};
  publisher.map.move_to(layout_of(1, 1));
  std::vector<std::unique_ptr<MapProcess>> processes;
  for (std::size_t i = 0; i < process_count; ++i) {
    processes.push_back(std::make_unique<MapProcess>(servers, root));
  }
  HolderJudge judge{paths};
  // A lock that is held all the time moves with its path.
  MovingMutex held_mutex{publisher.map, "/held/for-long"};
  const MovingLease held = held_mutex.acquire();
  const FencingToken held_token = held.token();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < process_count * threads_each; ++i) {
      threads.emplace_back([&, i](const std::stop_token& stop) {
        work(*processes[i % process_count], judge, paths, i * 13, stop);
      });
    }
    for (const auto& [east, west] :
         {std::pair{0, 1}, std::pair{1, 0}, std::pair{1, 1}, std::pair{1, 3}, std::pair{1, 1}}) {
      const int before = judge.grants;
      publisher.map.move_to(layout_of(east, west));
      CHECK(eventually([&] { return judge.grants > before + 20; }));
    }
    CHECK(judge.two_holders == 0);
    // Sessions that the servers end keep no move waiting. Their holders believe for a moment longer
    // that they hold; their tokens are refused.
    std::jthread ends_a_session{[&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        try {
          servers.east.expire(processes[0]->east);
        } catch (const testing::TestingError&) {
          // The client has begun another session meanwhile.
        }
        std::this_thread::sleep_for(300ms);
      }
    }};
    publisher.map.move_to(layout_of(0, 1));
    publisher.map.move_to(layout_of(1, 1));
    for (std::jthread& each : threads) each.request_stop();
  }
  CHECK(judge.fallen_tokens == 0);
  CHECK(judge.failures == 0);
  CHECK(judge.grants > 100);
  CHECK(publisher.map.version() == 24);
  CHECK(held.state() == LeaseState::held);
  CHECK(held.token() == held_token);
  CHECK(held.homes() == publisher.map.homes_of("/held/for-long"));
}

TEST_CASE(
    "moving map: an ensemble that is away stops the locks of its paths only, and a move waits "
    "for it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  // The map's work runs on the client of the first ensemble, which needs no server for it.
  for (const std::string away : {"west", "east"}) {
    Servers servers;
    Server& server = away == "west" ? servers.west : servers.east;
    MapProcess mine{servers, unique_root("moving-away")};
    const Client& client = away == "west" ? mine.west : mine.east;
    mine.map.move_to(layout_of(1, 1));
    std::map<std::string, std::string> at_home;
    for (std::size_t i = 0; at_home.size() < 2; ++i) {
      at_home[mine.map.homes_of(path_number(i)).front()] = path_number(i);
    }
    MovingMutex there{mine.map, at_home[away]};
    MovingMutex here{mine.map, at_home[away == "west" ? "east" : "west"]};
    MovingLease lease = here.acquire();
    server.stop();
    CHECK(eventually([&] { return !is_connected(client.connection_state()); }));
    const MovingAcquireResult none = there.try_acquire();
    CHECK_FALSE(none.lease);
    lease.release();
    lease = here.acquire();
    std::atomic<bool> has_moved = false;
    std::jthread moves{[&] {
      mine.map.move_to(away == "west" ? layout_of(0, 1) : layout_of(1, 0));
      has_moved = true;
    }};
    std::this_thread::sleep_for(200ms);
    CHECK_FALSE(has_moved);
    CHECK(lease.state() == LeaseState::held);
    server.start();
    CHECK(eventually([&] { return has_moved.load(); }));
    CHECK(eventually([&] { return lease.homes() == std::vector<std::string>{away}; }));
    CHECK(lease.state() == LeaseState::held);
  }
}

}  // namespace
}  // namespace custodian::tests::moving_map_test
