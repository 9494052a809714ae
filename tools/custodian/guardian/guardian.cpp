#include "guardian/guardian.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "custodian/session/session.hpp"
#include "guardian/countdown.hpp"
#include "guardian/descendants.hpp"
#include "guardian/descriptors.hpp"
#include "guardian/guardian_messages.hpp"
#include "guardian/supervised_command.hpp"

namespace custodian::cli {
namespace {

/// Ignores the signals that would end or stop the guardian: it ends only with its runner, or by
/// SIGKILL.
void disregard_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,
                           SIGTSTP, SIGTTIN, SIGTTOU}) {
    std::signal(signal, SIG_IGN);
  }
}

int child_signals() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  // If SIGCHLD were ignored, as this process may have inherited it, the kernel would reap children
  // unnoticed.
  std::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void drain(int descriptor) {
  std::array<char, 1024> ignored{};
  while (read(descriptor, ignored.data(), ignored.size()) > 0) {
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\0');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

class Guardian {
 public:
  Guardian(int control, std::vector<std::string> command, SignalSetting as_started,
           int runner_group)
      : control_{control},
        children_{child_signals()},
        timer_{timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)},
        command_{std::move(command), as_started, runner_group} {}

  void run() {
    while (!runner_is_gone_ || command_.is_active()) {
      set_timer();
      wait();
      // Kill before reap(): once the command is reaped, its group cannot be killed as a whole.
      if (is_killing_) kill();
      // Reap before reading orders, which may report a loss: a command that has already ended by
      // itself must not be reported as ended for the loss.
      for (const Report& report : command_.reap()) tell(report);
      if (!runner_is_gone_) listen();
      keep_time();
    }
  }

 private:
  void wait() {
    std::array<pollfd, 4> wanted{{{children_, POLLIN, 0},
                                  {timer_, POLLIN, 0},
                                  {command_.exec_result(), POLLIN, 0},
                                  // poll() skips -1. A socket at end of file would be readable for
                                  // ever.
                                  {runner_is_gone_ ? -1 : control_, POLLIN, 0}}};
    poll(wanted.data(), wanted.size(), -1);
    drain(children_);
    drain(timer_);
  }

  void listen() {
    static std::array<char, longest_message> buffer{};
    for (;;) {
      const ssize_t size = recv(control_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size <= 0) {
        runner_is_gone_ = true;
        return kill();
      }
      const std::string_view bytes{buffer.data(), static_cast<std::size_t>(size)};
      if (const auto order = message_from<Order>(bytes)) obey(*order, bytes.substr(sizeof(Order)));
    }
  }

  void obey(const Order& order, std::string_view environment) {
    switch (order.kind) {
      case Order::Kind::start: return start(order, environment);
      case Order::Kind::signal: return pass_on(order.signal);
      case Order::Kind::proceed: proceeded_ = order.number; return note(command_.proceed());
      case Order::Kind::hold_until: return hold_until(order);
      case Order::Kind::lost:
        return countdown_.lose(BootClock::time_point{order.time}, order.grace);
    }
  }

  void start(const Order& order, std::string_view environment) {
    countdown_ = {};
    hold_until(order);
    // The lock may have been lost while the order waited. Then nothing is run.
    static_cast<void>(countdown_.due(BootClock::now()));
    if (countdown_.is_lost()) return tell({.kind = Report::Kind::ended});
    if (const int error = command_.start(lines_of(environment)); error != 0) {
      tell({.kind = Report::Kind::not_started, .value = error});
    }
  }

  void pass_on(int signal) {
    note(command_.signal(signal));
    // Once the command has ended, no wait status shows that its remaining processes are stopped.
    if (signal == SIGTSTP && command_.is_active() && !command_.main_runs()) {
      tell({.kind = Report::Kind::stopped, .value = SIGTSTP});
    }
  }

  void hold_until(const Order& order) {
    // An order without a time means that the loss is to be ignored (--on-lost ignore).
    if (order.time > order.time.zero()) {
      countdown_.hold_until(BootClock::time_point{order.time}, order.grace);
    }
  }

  void keep_time() {
    // Once the command has ended the countdown has no meaning.
    if (!command_.is_active()) countdown_ = {};
    switch (countdown_.due(BootClock::now())) {
      case Countdown::Due::nothing: return;
      case Countdown::Due::request:
        note(command_.signal(SIGTERM));
        // A stopped command receives the SIGTERM only when it is continued.
        return note(command_.signal(SIGCONT));
      case Countdown::Due::kill: return kill();
    }
  }

  void kill() {
    is_killing_ = true;
    const Reached reached = command_.kill_all();
    kill_pause_ = pause_after_killing(reached);
    note(reached);
  }

  void note(Reached reached) {
    if (reached == Reached::all || std::exchange(is_forbidden_told_, true)) return;
    tell({.kind = Report::Kind::forbidden});
  }

  void tell(Report report) {
    report.proceeded = proceeded_;
    const bool is_over =
        report.kind == Report::Kind::ended || report.kind == Report::Kind::not_started;
    if (is_over) {
      report.for_loss = std::exchange(countdown_, {}).is_lost();
      is_killing_ = runner_is_gone_;
    }
    const std::string_view bytes = bytes_of(report);
    // The result is ignored: listen() notices if the runner is gone.
    static_cast<void>(send(control_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  void set_timer() const {
    const auto next = is_killing_ ? BootClock::now() + kill_pause_ : countdown_.next();
    itimerspec setting{};
    if (next) {
      // A zero time would disarm the timer.
      const auto at = std::max(next->time_since_epoch(), BootClock::duration{1});
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at);
      setting.it_value = {seconds.count(), std::chrono::nanoseconds{at - seconds}.count()};
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &setting, nullptr);
  }

  int control_;
  int children_;
  int timer_;
  SupervisedCommand command_;
  Countdown countdown_;
  std::uint64_t proceeded_ = 0;
  bool is_forbidden_told_ = false;
  bool is_killing_ = false;
  std::chrono::milliseconds kill_pause_{};
  bool runner_is_gone_ = false;
};

}  // namespace

void guard(int control, std::vector<std::string> command, SignalSetting as_started,
           int runner_group) {
  setpgid(0, 0);
  // The guardian has a name of its own, so that a kill by name does not reach both runner and
  // guardian.
  prctl(PR_SET_NAME, "lock-guardian");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  close_all_but(control);
  disregard_signals();
  Guardian{control, std::move(command), as_started, runner_group}.run();
  _exit(0);
}

}  // namespace custodian::cli
