#pragma once

/// \file
/// Kept is a client that keeps its lock, and another one that does not.

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// A time that is longer than any case.
inline constexpr std::chrono::minutes a_minute{1};

class Kept {
 public:
  using Place = Outcome<Lease>;

  explicit Kept(LockOptions of_lock = {.keep_idle_for = a_minute},
                std::size_t max_kept_locks = 1'000)
      : options{std::move(of_lock)}, mine{make(max_kept_locks)} {
    mutex.emplace(*mine, "/lock", options);
    others_mutex.emplace(*other, "/lock");
  }
  ~Kept() {
    mine->release_kept_locks();
    CHECK(world.run_until_idle(*mine));
    CHECK(world.run_until_idle(*other));
    CHECK(nodes() == 0);
    CHECK(mine->kept_locks() == 0);
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  template <typename Lock>
  Place queue(Lock& lock) {
    Place place;
    lock.async_acquire(place.handler());
    world.settle();
    return place;
  }
  Place queue() { return queue(*mutex); }
  Place queue_other() { return queue(*others_mutex); }
  template <typename Lock>
  Lease acquire(Lock& lock) {
    Place place;
    lock.async_acquire(place.handler());
    REQUIRE(world.run_until_arrived(place));
    REQUIRE_FALSE(place.error());
    return std::move(place.result());
  }
  Lease acquire() { return acquire(*mutex); }
  /// Acquires and releases, so that the lock is kept.
  void keep() {
    acquire().release();
    world.settle();
    REQUIRE(mine->kept_locks() == 1);
    world.ensemble.clear_history();
  }
  /// Runs all that is due. Returns whether this contender then holds the lock.
  bool holds(Place& place) {
    world.settle();
    return place.arrived() && !place.error() && place.result().state() == LeaseState::held;
  }
  [[nodiscard]] std::size_t nodes(const std::string& path = "/lock") const {
    return world.ensemble.children(path).size();
  }
  /// The kinds of the requests that the client "mine" has sent since the last keep().
  [[nodiscard]] std::vector<std::string> asked() const {
    std::vector<std::string> kinds;
    for (const auto& each : world.ensemble.history()) {
      if (each.client == "mine") kinds.emplace_back(each.kind);
    }
    return kinds;
  }
  void pass(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer{world.context, time};
    bool passed = false;
    timer.async_wait([&](error_code) { passed = true; });
    REQUIRE(world.run_until([&] { return passed; }));
  }

  LockOptions options;
  World world;
  std::unique_ptr<Client> mine;
  std::unique_ptr<Client> other = world.client("other");
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;

 private:
  std::unique_ptr<Client> make(std::size_t max_kept_locks) {
    ClientOptions of_client = world.options("mine");
    of_client.max_kept_locks = max_kept_locks;
    return world.client(std::move(of_client));
  }
};

}  // namespace custodian::tests
