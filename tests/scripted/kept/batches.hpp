#pragma once

/// \file
/// Batches is a lock with a cohort, and another client's contenders.

#include <memory>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// A lock object of the client "mine" that passes the lock on, and one of "other" that does not.
class Batches {
 public:
  explicit Batches(int passes = 2)
      : mutex{std::in_place, *mine, "/lock", LockOptions{.hand_off = HandOff::cohort(passes)}},
        others_mutex{std::in_place, *other, "/lock"} {}
  ~Batches() {
    CHECK(world.run_until_idle(*mine));
    CHECK(world.run_until_idle(*other));
    CHECK(nodes() == 0);
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }

  using Place = Outcome<Lease>;

  Place queue() {
    Place place;
    mutex->async_acquire(place.handler());
    world.settle();
    return place;
  }
  Place queue_other() {
    Place place;
    others_mutex->async_acquire(place.handler());
    world.settle();
    return place;
  }
  Place hold() {
    Place place = queue();
    REQUIRE(place.arrived());
    REQUIRE_FALSE(place.error());
    return place;
  }
  [[nodiscard]] std::size_t nodes() const { return world.ensemble.children("/lock").size(); }
  /// Runs all that is due. Returns whether this contender then holds the lock.
  bool holds(Place& place) {
    world.settle();
    return place.arrived() && !place.error() && place.result().state() == LeaseState::held;
  }

  World world;
  std::unique_ptr<Client> mine = world.client("mine");
  std::unique_ptr<Client> other = world.client("other");
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;
};

}  // namespace custodian::tests
