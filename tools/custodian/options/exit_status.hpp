#pragma once

/// \file
/// ExitStatus has the exit statuses of the custodian command: those of sysexits.h, and of a shell.

namespace custodian::cli {

enum class ExitStatus : int {
  ok = 0,
  /// The answer is no, or an error without a status of its own has occurred.
  failure = 1,
  usage = 64,         ///< the command line is wrong
  unavailable = 69,   ///< no server answered in time
  lost = 70,          ///< the lock was lost, and the command was ended because of that
  not_acquired = 75,  ///< queued, but the lock was not granted in time
  no_permission = 77,
  not_executable = 126,
  not_found = 127,
};

/// A shell's exit status for a command that a signal has ended is this plus the signal's number.
inline constexpr int signal_base = 128;

[[nodiscard]] constexpr int to_int(ExitStatus status) noexcept { return static_cast<int>(status); }

}  // namespace custodian::cli
