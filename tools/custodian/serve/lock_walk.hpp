#pragma once

/// \file
/// LockWalk is what one walk over the locks has found.

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/inspect/list_locks.hpp"
#include "custodian/inspect/wait_cycles.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

struct LockWalk {
  LockListing listing{};
  std::vector<WaitCycle> cycles{};
  std::chrono::system_clock::time_point at{};  ///< when it began
  std::chrono::milliseconds took{0};
  /// Why there is no listing; empty if there is one.
  std::string error{};
};

/// Walks over the paths, one after the other; a lock below two of them is listed once. Blocks. Does
/// not throw Error: a failure is in the result.
[[nodiscard]] LockWalk walk(const Client& client, const std::vector<std::string>& paths,
                            const ListOptions& options, std::stop_token stop);

/// The locks, each as `custodian list --json` prints it, and remarks on what was not listed.
[[nodiscard]] Json json_of_locks(const LockWalk& walk);
/// The circles of waits, each as `custodian list --cycles --json` prints it.
[[nodiscard]] Json json_of_cycles(const LockWalk& walk);

}  // namespace custodian::cli
