#pragma once

/// \file
/// LockMetrics is a walk as text for Prometheus. Its series have no paths, so that their number
/// does not grow with the locks. Pure.

#include <string>

#include "serve/lock_walk.hpp"

namespace custodian::cli {

/// A walk that has failed gives custodian_locks_up 0, and nothing else.
[[nodiscard]] std::string metrics_of(const LockWalk& walk);

}  // namespace custodian::cli
