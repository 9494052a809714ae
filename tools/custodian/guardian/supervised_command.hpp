#pragma once

/// \file
/// SupervisedCommand is the command as its guardian sees it: the process, its group, and all that
/// it has started. It is the one place that forks a command, signals it and waits for it.
///
/// The command has a process group of its own. It has the terminal when it asks for it: reading
/// from the terminal, or changing it, stops a group in the background (SIGTTIN, SIGTTOU), which is
/// then given it, if the runner's group has it. Until then Ctrl-C reaches the runner, with whatever
/// stands beside it in a pipeline or a script, and is passed on.
///
/// Threads: one, and no other in this process. At most one object, which adopts and reaps whatever
/// its process has started.

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
  /// `runner_group` is the process group that has the terminal when the command has not.
  SupervisedCommand(std::vector<std::string> words, SignalSetting as_started, pid_t runner_group);

  /// Starts the command with "NAME=value" for each further variable. Returns 0, or errno: then
  /// nothing runs. The command must not run already. Does not wait until the program is executed,
  /// which takes as long as its file system does: the command is active meanwhile, and what becomes
  /// of that shows in reap().
  [[nodiscard]] int start(const std::vector<std::string>& environment);

  /// Becomes readable when the program is executed, or cannot be; -1 when that is known.
  [[nodiscard]] int exec_result() const noexcept { return exec_result_; }

  /// Whether the command, or anything that it has started, is left.
  [[nodiscard]] bool is_active() const noexcept { return active_; }

  /// Whether the command itself has not ended, apart from what it has started.
  [[nodiscard]] bool main_runs() const;

  /// Signals the command's whole group; when the command has ended, all processes that are left.
  Reached signal(int number) const;
  /// Continues it after a stop, with the terminal if it had it.
  Reached proceed();
  /// Sends SIGKILL to all processes that exist now: one that is just being started is missed, so
  /// call it again until none is left. Before reap(), for a process that has ended has no children
  /// any more.
  [[nodiscard]] Reached kill_all() const;

  /// Looks for what has happened since; to be called on SIGCHLD, and when exec_result() is
  /// readable.
  [[nodiscard]] std::vector<Report> reap();

 private:
  [[noreturn]] void run(const std::vector<std::string>& environment, pid_t guardian,
                        int error_pipe);
  void read_exec_result();
  /// The signal by which the runner must stop as well, if any.
  [[nodiscard]] std::optional<int> stopped_by(int number);
  void refuse_terminal();
  void no_more_terminal();

  std::vector<std::string> words_;
  SignalSetting as_started_;
  Terminal terminal_;
  /// Of the command and its group; 0 when it has been reaped.
  pid_t process_ = 0;
  /// The end to read from of a pipe that brings errno if the program cannot be executed, and closes
  /// if it is.
  int exec_result_ = -1;
  /// errno, if it could not be executed.
  int exec_error_ = 0;
  int wait_status_ = 0;
  bool active_ = false;
  /// It has asked for the terminal, and gets it again in proceed().
  bool wants_terminal_ = false;
  /// A process that it has left behind has asked for the terminal, and was stopped.
  bool leftover_is_refused_ = false;
};

}  // namespace custodian::cli
