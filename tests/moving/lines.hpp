#pragma once

/// \file
/// What the processes of the moving map say and are asked, besides what crowds/crowd.hpp has.
///
///   work                a worker's threads cycle on the paths from now on
///   hold <path>         acquire the path, and hold it until "let-go"
///   let-go              release what "hold" has, or will get
///   visit <from> <to>   acquire each of these paths, by their numbers, once
///   rest                end all that
///   move <step>         move the map to the layout of this step
///
///   begin <path> <token> <time> <homes> <ms>   the worker holds the path, and waited so long for
///   it end <path> <token> <time>                  and does so no more; said before it is released
///   lost <path> <token> <time>                 the same, without having released it
///   kept <path>                                a hold that was asked for has begun
///   landed <path> <token> <sent> <answered>    a write was accepted by the register
///   refused <path> <token> good|stale          it was refused; stale: the hold was over by then
///   wrote <path> <token> <ensemble> <zxid>     a write with a check of the lease
///   unwritten <path> <token> <ensemble> <why>  one that the servers have refused, or not answered
///   wrong <text>                               what must not be
///   visited <from>, rests, moved <step>        what was asked for is done

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
