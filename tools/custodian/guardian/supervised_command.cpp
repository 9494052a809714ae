#include "guardian/supervised_command.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "guardian/descendants.hpp"

namespace custodian::cli {
namespace {

/// Blocks all signals while the object lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

bool asks_for_terminal(int stop_signal) { return stop_signal == SIGTTIN || stop_signal == SIGTTOU; }

}  // namespace

SupervisedCommand::SupervisedCommand(std::vector<std::string> words, SignalSetting as_started,
                                     pid_t runner_group)
    : words_{std::move(words)}, as_started_{as_started}, terminal_{runner_group} {}

int SupervisedCommand::start(const std::vector<std::string>& environment) {
  leftover_is_refused_ = false;
  exec_error_ = 0;
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
  const pid_t guardian = getpid();
  // The child first has the guardian's signal setting, with which a signal for the command would be
  // lost.
  const SignalsBlocked until_forked;
  process_ = fork();
  if (process_ == 0) run(environment, guardian, pipe[1]);
  const int error = process_ < 0 ? errno : 0;
  close(pipe[1]);
  if (error != 0) {
    close(pipe[0]);
    process_ = 0;
    return error;
  }
  // Parent and child both call setpgid(): neither may go on before the group exists.
  setpgid(process_, process_);
  exec_result_ = pipe[0];
  active_ = true;
  return 0;
}

void SupervisedCommand::read_exec_result() {
  if (exec_result_ < 0) return;
  ssize_t count = 0;
  do {
    count = read(exec_result_, &exec_error_, sizeof exec_error_);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return;
  close(std::exchange(exec_result_, -1));
}

void SupervisedCommand::run(const std::vector<std::string>& environment, pid_t guardian,
                            int error_pipe) {
  // If the guardian is killed, the kernel kills the command with it. The runner ends the other
  // processes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guardian) _exit(1);
  setpgid(0, 0);
  for (const std::string& variable : environment) {
    const auto equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> words;
  for (std::string& word : words_) words.push_back(word.data());
  words.push_back(nullptr);
  as_started_.restore();
  execvp(words.front(), words.data());
  const int error = errno;
  [[maybe_unused]] const auto count = write(error_pipe, &error, sizeof error);
  _exit(127);
}

bool SupervisedCommand::main_runs() const {
  if (process_ <= 0) return false;
  siginfo_t info{};
  // WNOWAIT leaves the command to reap(), which has to see its end.
  const int asked = waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
  return asked == 0 && info.si_pid == 0;
}

Reached SupervisedCommand::signal(int number) const {
  if (!main_runs()) return kill_each(descendants(getpid()), number);
  // If the command has left the group that it was to lead, only the command itself can be
  // signalled.
  if (kill(-process_, number) == 0 || kill(process_, number) == 0) return Reached::all;
  return errno == EPERM ? Reached::nobody : Reached::all;
}

Reached SupervisedCommand::proceed() {
  if (wants_terminal_ && process_ > 0) terminal_.lend_to(getpgid(process_));
  return signal(SIGCONT);
}

Reached SupervisedCommand::kill_all() const {
  if (process_ > 0) kill(-process_, SIGKILL);
  return kill_each(descendants(getpid()), SIGKILL);
}

std::vector<Report> SupervisedCommand::reap() {
  std::vector<Report> reports;
  bool main_ended = false;
  read_exec_result();
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (process < 0 && errno == EINTR) continue;
    if (process == 0) break;
    if (process < 0) {
      // The guardian would have adopted grandchildren, so without children nothing is left.
      if (std::exchange(active_, false)) {
        no_more_terminal();
        reports.push_back(exec_error_ == 0
                              ? Report{.kind = Report::Kind::ended, .value = wait_status_}
                              : Report{.kind = Report::Kind::not_started, .value = exec_error_});
      }
      return reports;
    }
    if (process != process_) {
      // A process in the command's group does not count: it is continued with the command.
      const bool is_apart = process_ == 0 || getpgid(process) != getpgid(process_);
      if (is_apart && WIFSTOPPED(status) && asks_for_terminal(WSTOPSIG(status))) {
        leftover_is_refused_ = true;
      }
      continue;
    }
    if (WIFSTOPPED(status)) {
      if (const auto stop = stopped_by(WSTOPSIG(status))) {
        reports.push_back({.kind = Report::Kind::stopped, .value = *stop});
      }
      continue;
    }
    process_ = 0;
    wait_status_ = status;
    // The child wrote the result before it ended.
    read_exec_result();
    main_ended = exec_error_ == 0;
    // The runner's group has the terminal now: Ctrl-C reaches the runner, and through it the
    // remaining processes.
    no_more_terminal();
  }
  // The command has ended, so no remaining process can get the terminal: none may wait for it.
  if (process_ == 0 && std::exchange(leftover_is_refused_, false)) refuse_terminal();
  if (main_ended) reports.push_back({.kind = Report::Kind::main_ended, .value = wait_status_});
  return reports;
}

std::optional<int> SupervisedCommand::stopped_by(int number) {
  if (asks_for_terminal(number)) {
    if (terminal_.lend_to(getpgid(process_))) {
      wants_terminal_ = true;
      signal(SIGCONT);
      return std::nullopt;
    }
    if (as_started_.ignores(number) || !terminal_.is_in_reach()) {
      // The runner could not stop as well, so the command would be stopped and continued for ever.
      refuse_terminal();
      return std::nullopt;
    }
  } else if (number == SIGSTOP && terminal_.is_lent()) {
    // Editors suspend themselves by SIGSTOP. For the runner's shell that must look like Ctrl-Z.
    number = SIGTSTP;
  } else if (number != SIGTSTP) {
    // A SIGSTOP is meant for the command alone.
    return std::nullopt;
  }
  terminal_.take_back();
  return number;
}

void SupervisedCommand::refuse_terminal() {
  terminal_.renounce();
  signal(SIGCONT);
}

void SupervisedCommand::no_more_terminal() {
  wants_terminal_ = false;
  terminal_.take_back();
}

}  // namespace custodian::cli
