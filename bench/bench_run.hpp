#pragma once

/// \file
/// run() measures all chosen workloads.

#include <functional>
#include <string>

#include "options.hpp"
#include "run_result.hpp"

namespace custodian::bench {

/// Receives a line for each step, and the result of each workload.
struct Listener {
  std::function<void(const std::string&)> progress;
  std::function<void(const WorkloadResult&)> measured;
};

/// Measures the chosen workloads. Throws Violation (measuring.hpp) if a lock had two holders at
/// once. A contestant that fails otherwise is reported as failed, and the others go on. An
/// interrupted run (driver_link.hpp) reports its complete workloads.
[[nodiscard]] RunResult run(const Options& options, const std::string& command,
                            const Listener& listener);

}  // namespace custodian::bench
