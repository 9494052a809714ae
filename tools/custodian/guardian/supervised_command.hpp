#pragma once

/// \file
/// SupervisedCommand is the command as its guardian sees it: the process, its group, and all that
/// it has started. No other code forks a command, signals it or waits for it.
///
/// The command has a process group of its own, and gets the terminal on demand: reading from the
/// terminal, or changing it, stops a background group (SIGTTIN, SIGTTOU); the stopped group is then
/// given the terminal, if the runner's group has it. Until then Ctrl-C reaches the runner, and the
/// rest of its pipeline or script, and the runner forwards it.
///
/// Threads: one, and the process must have no other. At most one object, which adopts and reaps all
/// children of its process.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "guardian/descendants.hpp"
#include "guardian/guardian_messages.hpp"
#include "guardian/signal_setting.hpp"
#include "guardian/terminal.hpp"

namespace custodian::cli {

class SupervisedCommand {
 public:
  /// `runner_group` is the process group that has the terminal while the command does not.
  SupervisedCommand(std::vector<std::string> words, SignalSetting as_started, pid_t runner_group);

  /// Starts the command with the additional variables, each "NAME=value". Returns 0, or errno if no
  /// process was started. The command must not be running. Does not wait for exec, which may take
  /// long on a slow file system: the command is active meanwhile, and reap() reports the outcome.
  [[nodiscard]] int start(const std::vector<std::string>& environment);

  /// A descriptor that becomes readable when exec has succeeded or failed; -1 once the outcome is
  /// known.
  [[nodiscard]] int exec_result() const noexcept { return exec_result_; }

  /// Returns whether the command, or any process that it has started, is left.
  [[nodiscard]] bool is_active() const noexcept { return active_; }

  /// Returns whether the command's own process still runs, whatever it has started.
  [[nodiscard]] bool main_runs() const;

  /// Signals the command's whole group or, when the command has ended, all processes that are left.
  Reached signal(int number) const;
  /// Continues the command after a stop, with the terminal if the command had it.
  Reached proceed();
  /// Sends SIGKILL to all processes that exist now. It misses a process that is just being started,
  /// so call it again until none is left. Call it before reap(): once the command is reaped, its
  /// group cannot be killed as a whole.
  [[nodiscard]] Reached kill_all() const;

  /// Reports what has happened since the last call. Call it on SIGCHLD, and when exec_result() is
  /// readable.
  [[nodiscard]] std::vector<Report> reap();

 private:
  [[noreturn]] void run(const std::vector<std::string>& environment, pid_t guardian,
                        int error_pipe);
  void read_exec_result();
  /// Returns the signal by which the runner must stop as well, if any.
  [[nodiscard]] std::optional<int> stopped_by(int number);
  void refuse_terminal();
  void no_more_terminal();

  std::vector<std::string> words_;
  SignalSetting as_started_;
  Terminal terminal_;
  /// The id of the command and of its group; 0 when the command has been reaped.
  pid_t process_ = 0;
  /// The read end of a pipe: it delivers errno if exec fails, and end of file if exec succeeds.
  int exec_result_ = -1;
  /// The errno of a failed exec; 0 otherwise.
  int exec_error_ = 0;
  int wait_status_ = 0;
  bool active_ = false;
  /// The command has asked for the terminal; proceed() lends it to the command again.
  bool wants_terminal_ = false;
  /// A process that the command left behind has asked for the terminal, and was stopped.
  bool leftover_is_refused_ = false;
};

}  // namespace custodian::cli
