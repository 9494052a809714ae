#include "guardian/signal_setting.hpp"

namespace custodian::cli {

SignalSetting SignalSetting::current() {
  SignalSetting setting;
  sigprocmask(SIG_SETMASK, nullptr, &setting.mask_);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    setting.ignored_[static_cast<unsigned>(signal)] = action.sa_handler == SIG_IGN;
  }
  return setting;
}

void SignalSetting::restore() const noexcept {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    action.sa_handler = ignores(signal) ? SIG_IGN : SIG_DFL;
    // sigaction() fails for SIGKILL and SIGSTOP, and for the signals that the C library reserves.
    sigaction(signal, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace custodian::cli
