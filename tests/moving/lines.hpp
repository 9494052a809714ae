#pragma once

/// \file
/// The orders to the processes of the moving map, and their reports, besides those in
/// crowds/crowd.hpp.
///
///   work                a worker's threads cycle on the paths from now on
///   hold <path>         acquire the path, and hold it until "let-go"
///   let-go              release what "hold" has, or will get
///   visit <from> <to>   acquire each of these paths, by their numbers, once
///   rest                end all work and all holds
///   move <step>         move the map to the layout of this step
///
///   begin <path> <token> <time> <homes> <ms>   the worker holds the path, after a wait of <ms>
///   end <path> <token> <time>                  the hold ends; written before the release
///   lost <path> <token> <time>                 the hold was lost
///   kept <path>                                the hold of an order "hold" has begun
///   landed <path> <token> <sent> <answered>    a write was accepted by the register
///   refused <path> <token> good|stale          the register refused a write; stale: after the hold
///   wrote <path> <token> <ensemble> <zxid>     a write with a check of the lease
///   unwritten <path> <token> <ensemble> <why>  such a write was refused, or not answered
///   wrong <text>                               a violation
///   visited <from>, rests, moved <step>        an order was carried out

#include <chrono>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>

namespace custodian::tests::moving {

/// Prints whole lines, from any thread.
inline void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  std::cout << line + '\n' << std::flush;
}

/// The time of a clock that all processes of a machine share, in nanoseconds.
[[nodiscard]] inline std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace custodian::tests::moving
