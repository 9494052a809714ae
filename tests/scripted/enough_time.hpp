#pragma once

/// \file
/// play_with_enough_time() is for scenes that must be complete before a deadline: on a slow machine
/// the first deadline may be too short.

#include <chrono>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// Plays a scene with this time, then with twice as much, and so on, until the scene is complete.
/// `play(time)` returns whether it was complete, and checks nothing otherwise.
template <typename Play>
void play_with_enough_time(std::chrono::milliseconds time, const Play& play) {
  while (!play(time)) {
    time *= 2;
    REQUIRE(time < World::limit);
  }
}

}  // namespace custodian::tests
