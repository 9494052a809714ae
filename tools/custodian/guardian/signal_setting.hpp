#pragma once

/// \file
/// SignalSetting keeps the signal mask and the ignored signals that this process inherited, so that
/// the command starts with the same.

#include <bitset>
#include <csignal>

namespace custodian::cli {

class SignalSetting {
 public:
  /// Reads the present setting. A program that has just begun has no handlers: each signal is
  /// ignored or has its default action.
  [[nodiscard]] static SignalSetting current();

  [[nodiscard]] bool ignores(int signal) const { return ignored_[static_cast<unsigned>(signal)]; }
  /// Makes this setting that of the process. Async-signal-safe, for use in the child of a fork().
  void restore() const noexcept;

 private:
  SignalSetting() = default;

  sigset_t mask_{};
  std::bitset<NSIG> ignored_;
};

}  // namespace custodian::cli
