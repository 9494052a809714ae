#pragma once

/// \file
/// Processes with a MovingMutex on a map of two ensembles, for its tests.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/ensembles/moving_mutex.hpp"
#include "scripted/ensembles/moving_world.hpp"

namespace custodian::tests::moving_mutex_process {

using namespace moving_world;

struct LockProcess {
  LockProcess(Ensembles& ensembles, const std::string& name)
      : east{ensembles.client(0, name + "-east")}, west{ensembles.client(1, name + "-west")} {
    MovingMapOptions options;
    options.announce_within = std::chrono::milliseconds{1};
    options.look_every = std::chrono::milliseconds{1};
    map.emplace(MovingMap::Clients{{"east", *east}, {"west", *west}}, options);
    mutex.emplace(*map, moving_path);
  }

  [[nodiscard]] recipes_detail::MapFollower& follower() const { return *map->follower(); }

  /// Ends both clients. Returns false if something keeps one alive.
  bool end(Ensembles& ensembles) {
    mutex.reset();
    map.reset();
    const bool is_idle =
        ensembles.world.run_until_idle(*east) && ensembles.world.run_until_idle(*west);
    return ensembles.world.end(east) && ensembles.world.end(west) && is_idle;
  }

  std::unique_ptr<Client> east;
  std::unique_ptr<Client> west;
  std::optional<MovingMap> map;
  std::optional<MovingMutex> mutex;
};

using Homes = std::vector<std::string>;

[[nodiscard]] inline std::int64_t generation_of(const FencingToken& token) {
  return token.epoch >> 32;
}

/// Runs for a while in which nothing may happen.
inline void wait_a_little(Ensembles& ensembles) {
  ensembles.world.run_for(std::chrono::milliseconds{20});
}

inline bool run_until_at(Ensembles& ensembles, const MovingLease& lease, const Homes& homes) {
  return ensembles.world.run_until([&] { return lease.homes() == homes; });
}

[[nodiscard]] inline MovingLease acquire(Ensembles& ensembles, LockProcess& process) {
  auto lease = run<MovingLease>(ensembles.world,
                                [&](auto done) { process.mutex->async_acquire(std::move(done)); });
  REQUIRE(lease.arrived());
  REQUIRE_FALSE(lease.error());
  return std::move(lease.result());
}

/// The number of contenders in the lock's queue at an ensemble.
[[nodiscard]] inline std::size_t nodes_at(const Ensembles& ensembles, std::size_t at) {
  return ensembles.all.at(at)->children(moving_path).size();
}

/// Puts a contender without a client into the lock's queue at an ensemble.
inline void make_contender(const Ensembles& ensembles, std::size_t at) {
  testing::FakeEnsemble& ensemble = *ensembles.all.at(at);
  ensemble.operate(request::Create{.path = moving_path, .acl = open_acl()});
  ensemble.operate(request::Create{
      .path = std::string{moving_path} + "/_c_00000000-0000-0000-0000-000000000000-lock-",
      .mode = CreateMode::persistent_sequential,
      .acl = open_acl()});
}
/// Removes the contender of make_contender().
inline void remove_contender(const Ensembles& ensembles, std::size_t at) {
  testing::FakeEnsemble& ensemble = *ensembles.all.at(at);
  for (const std::string& each : ensemble.children(moving_path)) {
    if (each.find("_c_00000000") == 0) {
      ensemble.operate(request::Remove{std::string{moving_path} + "/" + each});
    }
  }
}

}  // namespace custodian::tests::moving_mutex_process
