#pragma once

/// \file
/// run() measures all workloads of a run.

#include <functional>
#include <string>

#include "options.hpp"
#include "run_result.hpp"

namespace custodian::bench {

/// Gets a line for each step, and the result of each workload.
struct Listener {
  std::function<void(const std::string&)> progress;
  std::function<void(const WorkloadResult&)> measured;
};

/// Measures. Throws Violation (measuring.hpp) if a lock let two in; a contestant that fails
/// otherwise is reported as failed, and the others go on. Of a run that is interrupted
/// (driver_link.hpp) the complete workloads are reported.
[[nodiscard]] RunResult run(const Options& options, const std::string& command,
                            const Listener& listener);

}  // namespace custodian::bench
