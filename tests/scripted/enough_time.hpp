#pragma once

/// \file
/// play_with_enough_time() is for scenes that must come about before a deadline: on a slow machine
/// they do not at first.

#include <chrono>

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// Plays a scene with this time, and with twice as much until it has come about. `play(time)`
/// returns whether it has, and checks nothing if it has not.
template <typename Play>
void play_with_enough_time(std::chrono::milliseconds time, const Play& play) {
  while (!play(time)) {
    time *= 2;
    REQUIRE(time < World::limit);
  }
}

}  // namespace custodian::tests
