#pragma once

/// \file
/// A whole run.

#include <functional>
#include <string>

#include "options.hpp"
#include "run_result.hpp"

namespace custodian::bench {

/// Told what is done, and of each workload when it is over.
struct Listener {
  std::function<void(const std::string&)> progress;
  std::function<void(const WorkloadResult&)> measured;
};

/// Measures. Throws Violation (measuring.hpp) if a lock let two in; a contestant that fails
/// otherwise is told as failed, and the others go on. Of a run that is interrupted
/// (driver_link.hpp) the workloads that were complete are told.
[[nodiscard]] RunResult run(const Options& options, const std::string& command,
                            const Listener& listener);

}  // namespace custodian::bench
