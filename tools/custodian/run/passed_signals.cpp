#include "run/passed_signals.hpp"

#include <csignal>
#include <initializer_list>
#include <utility>

#include "guardian/stops.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

constexpr std::initializer_list<int> passed_on{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                               SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

}  // namespace

PassedSignals::PassedSignals(asio::io_context& context, const SignalSetting& as_started,
                             Listener listener)
    : as_started_{as_started}, listener_{std::move(listener)}, signals_{context} {}

void PassedSignals::listen() {
  allow_stops();
  for (const int signal : passed_on) {
    if (!as_started_.ignores(signal)) signals_.add(signal);
  }
  wait();
}

void PassedSignals::wait() {
  signals_.async_wait([this](boost::system::error_code error, int number) {
    if (error) return;
    listener_(number);
    wait();
  });
}

void PassedSignals::stop_self(int signal) {
  if (as_started_.ignores(signal)) return;
  const bool is_handled = signal == SIGTSTP;
  if (is_handled) signals_.remove(signal);
  // The signal has no effect if no shell could continue the group.
  ::kill(0, signal);
  if (is_handled) signals_.add(signal);
}

}  // namespace custodian::cli
