#pragma once

/// \file
/// Descendants are found in /proc: all processes that one has started, and that these have started.
/// The list is complete for a process that adopts its orphans (PR_SET_CHILD_SUBREAPER).

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace custodian::cli {

struct ProcessEntry {
  pid_t process = 0;
  pid_t parent = 0;
  /// It has ended, and its parent has not reaped it yet.
  bool is_zombie = false;

  friend bool operator==(const ProcessEntry&, const ProcessEntry&) = default;
};

/// A line of /proc/<pid>/stat; nothing if it is none. Pure.
[[nodiscard]] std::optional<ProcessEntry> parse_stat(std::string_view line);

/// Children before grandchildren, zombies included. Pure.
[[nodiscard]] std::vector<ProcessEntry> descendants(pid_t ancestor,
                                                    const std::vector<ProcessEntry>& all);

/// As it is now; out of date when it returns.
[[nodiscard]] std::vector<ProcessEntry> descendants(pid_t ancestor);

/// Which processes a signal has reached: some may be another user's (EPERM).
enum class Reached : std::uint8_t { all, some, nobody };

/// Signals all but zombies. `all` also if there is no process to signal.
[[nodiscard]] Reached kill_each(const std::vector<ProcessEntry>& entries, int signal);

/// The pause between two rounds of killing: processes that were being started then exist now. It is
/// longer after a round that has reached none.
[[nodiscard]] std::chrono::milliseconds pause_after_killing(Reached reached);

/// Whether this process group is orphaned now: no member has a parent outside of the group, but in
/// its session. The terminal's stop signals have no effect on it, for no process could continue it.
[[nodiscard]] bool is_orphaned(pid_t group);

}  // namespace custodian::cli
