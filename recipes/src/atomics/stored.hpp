#pragma once

/// \file
/// Stored is a node's data, and the time at which they were written. A value type.

#include <chrono>
#include <string>

#include "custodian/atomics/update_options.hpp"
#include "custodian/shared/versioned.hpp"

namespace custodian::recipes_detail {

struct Stored : Versioned<std::string> {
  /// The time of the write, by the leader's clock.
  std::chrono::system_clock::time_point written{};
};

/// An update, and the time of its write. If the update has written nothing, the time of the write
/// before.
struct StoredUpdate : Updated<std::string> {
  std::chrono::system_clock::time_point time{};
};

}  // namespace custodian::recipes_detail
