#pragma once

/// \file
/// Who is whose parent, from /proc: all that a process has started, and what that has started, is
/// complete for a process that adopts its orphans (PR_SET_CHILD_SUBREAPER).

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
  /// It has ended, and its parent has not looked yet.
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

/// Whom a signal has reached: of those that are there, some may be another user's (EPERM).
enum class Reached : std::uint8_t { all, some, nobody };

/// All but zombies; all, if there is nobody.
[[nodiscard]] Reached kill_each(const std::vector<ProcessEntry>& entries, int signal);

/// Between two rounds of killing: what was being started then is there now. After a round that has
/// reached nobody there is nothing to be quick for.
[[nodiscard]] std::chrono::milliseconds pause_after_killing(Reached reached);

/// Whether the terminal's stop signals are without effect on this process group, for nobody could
/// let it go on: no member has a parent outside of the group, but in its session. As it is now.
[[nodiscard]] bool is_orphaned(pid_t group);

}  // namespace custodian::cli
