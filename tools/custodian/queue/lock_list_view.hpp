#pragma once

/// \file
/// LockListView formats a list of locks, and waits that cannot end, for people and programs. Pure:
/// a listing in, text out.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "custodian/inspect/list_locks.hpp"
#include "custodian/inspect/wait_cycles.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

/// Which of the locks are shown.
struct LockFilter {
  /// Only locks with a contender that has held or waited for longer than this.
  std::chrono::nanoseconds longer_than{-1};
  /// Only locks with a contender of this session ("0x10000abcd"), or whose identity contains this
  /// text. Empty: all.
  std::string of{};
};

/// Removes the locks that the filter leaves out. Ages are relative to `now`.
void apply(const LockFilter& filter, LockListing& listing,
           std::chrono::system_clock::time_point now);

/// A table of the locks, followed by remarks on what was not listed.
[[nodiscard]] std::vector<std::string> lines_of(const LockListing& listing, const std::string& path,
                                                std::chrono::system_clock::time_point now);
/// One lock, as JSON, which does not depend on the time of printing.
[[nodiscard]] Json json_of(const ListedLock& lock);

/// The circle of waits, with a line for each wait.
[[nodiscard]] std::vector<std::string> lines_of(const WaitCycle& cycle,
                                                std::chrono::system_clock::time_point now);
[[nodiscard]] Json json_of(const WaitCycle& cycle);
/// Advice on circles that were found.
[[nodiscard]] std::vector<std::string> advice_on_cycles();
/// Remarks on what was not listed.
[[nodiscard]] std::vector<std::string> remarks_on(const LockListing& listing);

}  // namespace custodian::cli
