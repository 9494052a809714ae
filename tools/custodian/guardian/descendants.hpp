#pragma once

/// \file
/// Descendants are found in /proc: the processes that a process has started, directly or not.
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
  /// True if the process has ended, and its parent has not reaped it yet.
  bool is_zombie = false;

  friend bool operator==(const ProcessEntry&, const ProcessEntry&) = default;
};

/// Parses a line of /proc/<pid>/stat; nothing if it is malformed. Pure.
[[nodiscard]] std::optional<ProcessEntry> parse_stat(std::string_view line);

/// Lists children before grandchildren, zombies included. Pure.
[[nodiscard]] std::vector<ProcessEntry> descendants(pid_t ancestor,
                                                    const std::vector<ProcessEntry>& all);

/// The descendants at the moment of the call. The list may be out of date when the function
/// returns.
[[nodiscard]] std::vector<ProcessEntry> descendants(pid_t ancestor);

/// Says which processes a signal has reached. A signal cannot reach processes of another user
/// (EPERM).
enum class Reached : std::uint8_t { all, some, nobody };

/// Signals all processes but zombies. Returns `all` also if there is no process to signal.
[[nodiscard]] Reached kill_each(const std::vector<ProcessEntry>& entries, int signal);

/// The pause between two rounds of killing, so that the next round sees processes that were just
/// being started. The pause is longer after `nobody`, since only another user's processes are left
/// then.
[[nodiscard]] std::chrono::milliseconds pause_after_killing(Reached reached);

/// Returns whether this process group is orphaned now: no member has a parent that is outside the
/// group but in the same session. The terminal's stop signals do not stop an orphaned group, since
/// no process could continue it.
[[nodiscard]] bool is_orphaned(pid_t group);

}  // namespace custodian::cli
