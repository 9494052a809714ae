#include "interruption.hpp"

#include <csignal>

namespace custodian::chaos {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void note_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void throw_if_interrupted() {
  if (interrupted != 0) throw Interrupted{};
}

}  // namespace custodian::chaos
