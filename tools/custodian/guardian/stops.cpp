#include "guardian/stops.hpp"

#include <csignal>
#include <initializer_list>

namespace custodian::cli {
namespace {

sigset_t stops() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void defer_stops() {
  const sigset_t set = stops();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void allow_stops() {
  const sigset_t set = stops();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace custodian::cli
