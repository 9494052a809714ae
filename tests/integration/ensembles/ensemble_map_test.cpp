/// \file
/// A map of two standalone servers: locks have their nodes at their homes, and those of one server
/// work on while the other server is away.

#include "custodian/ensembles/ensemble_map.hpp"

#include <array>
#include <atomic>
#include <set>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::ensemble_map_test {
namespace {

using namespace std::chrono_literals;

/// Two servers, each an ensemble of its own.
struct Servers {
  Server east;
  Server west;

  Server& operator[](const std::string& name) { return name == "east" ? east : west; }
};

EnsembleLayout layout() { return {.depth = 3, .ensembles = {{"east", 1}, {"west", 1}}}; }

ClientOptions options_of(const Server& server, const std::string& root) {
  ClientOptions options = options_for(server.connect_string());
  options.touch_interval = testing::TestingServerOptions{}.tick_time * 3 / 4;
  options.name_space = root;
  return options;
}

/// The map of one process, with clients of its own.
EnsembleMap map_of(const Servers& servers, const std::string& root,
                   const EnsembleLayout& its_layout = layout()) {
  EnsembleMap map{its_layout,
                  std::map<std::string, ClientOptions>{{"east", options_of(servers.east, root)},
                                                       {"west", options_of(servers.west, root)}}};
  for (const char* name : {"east", "west"}) map.client(name).wait_connected();
  return map;
}

/// `count` paths whose home is this ensemble.
std::vector<std::string> paths_at(const EnsembleMap& map, const std::string& home,
                                  std::size_t count) {
  std::vector<std::string> paths;
  for (int i = 0; paths.size() < count; ++i) {
    std::string path = "/locks/orders/" + std::to_string(i);
    if (map.home_of(path) == home) paths.push_back(std::move(path));
  }
  return paths;
}

TEST_CASE("locks of a map exclude each other, and have their nodes at the homes of their paths") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  const std::string root = unique_root("homes");
  const EnsembleMap mine = map_of(servers, root);
  const EnsembleMap others = map_of(servers, root);
  mine.verify("/map");
  others.verify("/map");
  std::set<std::string> homes;
  for (int i = 0; i < 20; ++i) {
    const std::string path = "/locks/orders/" + std::to_string(i);
    auto mutex = mine.make<InterProcessMutex>(path);
    auto same = others.make<InterProcessMutex>(path);
    Lease lease = mutex.acquire();
    CHECK_FALSE(acquired(same.try_acquire()));
    for (const char* name : {"east", "west"}) {
      Client client = mine.client(name);
      const std::size_t nodes = mine.home_of(path) == name ? 1 : 0;
      CHECK(eventually([&] { return names_below(client, path).size() == nodes; }));
    }
    const FencingToken before = lease.token();
    lease.release();
    const AcquireResult next = same.try_acquire_for(patience);
    REQUIRE(next);
    // One home: tokens of a path grow.
    CHECK(next.lease.token() > before);
    homes.insert(mine.home_of(path));
  }
  CHECK(homes == std::set<std::string>{"east", "west"});
}

TEST_CASE("a process with another layout is refused, and the layouts are named") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  const std::string root = unique_root("layouts");
  const EnsembleMap mine = map_of(servers, root);
  mine.verify("/map");
  EnsembleLayout other = layout();
  other.ensembles["west"] = 2;
  const EnsembleMap others = map_of(servers, root, other);
  const auto found =
      begun<MapVerdict>([&](auto done) { others.async_verify("/map", std::move(done)); }).get();
  CHECK(std::get<0>(found) == Errc::invalid_argument);
  CHECK(std::get<1>(found).ours == others.fingerprint());
  CHECK(std::get<1>(found).theirs == mine.fingerprint());
  Client east = mine.client("east");
  CHECK(EnsembleLayout::parse(east.get("/map").data) == layout());
  // As an operator would, when all processes have ended.
  for (const char* name : {"east", "west"}) mine.client(name).remove("/map");
  others.verify("/map");
  CHECK(error_of([&] { mine.verify("/map"); }) == Errc::invalid_argument);
}

TEST_CASE("while one ensemble is stopped, locks at the other go on, and its own come back") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  const std::string root = unique_root("outage");
  const EnsembleMap mine = map_of(servers, root);
  const EnsembleMap others = map_of(servers, root);
  const std::vector<std::string> east_paths = paths_at(mine, "east", 21);
  auto at_east = mine.make<InterProcessMutex>(east_paths.back());
  auto at_west = mine.make<InterProcessMutex>(paths_at(mine, "west", 1).front());
  auto same_at_east = others.make<InterProcessMutex>(at_east.path());
  auto same_at_west = others.make<InterProcessMutex>(at_west.path());
  const Lease kept = at_east.acquire();
  Lease lost = at_west.acquire();
  servers.west.kill();
  REQUIRE(eventually([&] { return lost.state() == LeaseState::lost; }));
  // The session may go on when the server is back, and so does its node.
  lost.release();
  for (std::size_t i = 0; i < 20; ++i) {
    auto another = others.make<InterProcessMutex>(east_paths[i]);
    CHECK(acquired(another.try_acquire_for(patience)));
  }
  CHECK(kept.state() == LeaseState::held);
  CHECK_FALSE(acquired(same_at_east.try_acquire()));
  const AcquireResult away = same_at_west.try_acquire();
  CHECK(away.reason == NotAcquired::no_connection);
  // An acquire of both locks needs both ensembles.
  InterProcessMultiLock both{{at_east, same_at_west}};
  CHECK_FALSE(acquired(both.try_acquire()));
  servers.west.start();
  CHECK(acquired(same_at_west.try_acquire_for(patience)));
  CHECK(kept.state() == LeaseState::held);
}

TEST_CASE("stripes over two homes: with one ensemble stopped the stripes of the other are sold") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Servers servers;
  const std::string root = unique_root("stripes");
  const EnsembleMap mine = map_of(servers, root);
  const EnsembleMap others = map_of(servers, root);
  constexpr std::size_t count = 8;
  StripedMutex stock{mine, "/locks/stock", count};
  StripedMutex same{others, "/locks/stock", count};
  const auto home_of = [&](std::size_t stripe) {
    return mine.home_of("/locks/stock/" + std::to_string(stripe));
  };
  std::set<std::string> homes;
  for (std::size_t i = 0; i < count; ++i) homes.insert(home_of(i));
  REQUIRE(homes.size() == 2);
  {
    std::vector<StripeLease> all;
    std::set<std::size_t> had;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back((i % 2 == 0 ? stock : same).acquire_any());
      had.insert(all.back().index);
    }
    CHECK(had.size() == count);
    CHECK(stock.try_acquire_any().reason == NotAcquired::blocked);
    auto waiting = begun<StripeLease>([&](auto done) { stock.async_acquire_any(std::move(done)); });
    CHECK(waiting.wait_for(100ms) == std::future_status::timeout);
    const std::size_t released = all.at(3).index;
    all.at(3).lease.release();
    REQUIRE(waiting.wait_for(patience) == std::future_status::ready);
    CHECK(std::get<1>(waiting.get()).index == released);
  }
  const std::string away = home_of(0);
  servers[away].kill();
  REQUIRE(eventually([&] {
    return !is_connected(mine.client(away).connection_state()) &&
           !is_connected(others.client(away).connection_state());
  }));
  std::atomic<int> inside = 0;
  const auto sell = [&](StripedMutex& mutex) {
    for (int i = 0; i < 30; ++i) {
      const StripeLease any = mutex.acquire_any();
      if (home_of(any.index) == away) ++inside;
    }
  };
  auto other_seller = std::async(std::launch::async, [&] { sell(same); });
  sell(stock);
  other_seller.get();
  CHECK(inside == 0);
  servers[away].start();
  CHECK(acquired(stock[0].try_acquire_for(patience)));
}

}  // namespace
}  // namespace custodian::tests::ensemble_map_test
