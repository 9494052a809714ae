#pragma once

/// \file
/// What this process was told to do about signals by whoever started it, so that the command that
/// it runs can be told the same.

#include <bitset>
#include <csignal>

namespace custodian::cli {

class SignalSetting {
 public:
  /// As it is now. Of a program that has just begun: it ignores signals, or leaves them alone.
  [[nodiscard]] static SignalSetting current();

  [[nodiscard]] bool ignores(int signal) const { return ignored_[static_cast<unsigned>(signal)]; }
  /// Async-signal-safe: for the child of a fork().
  void restore() const noexcept;

 private:
  SignalSetting() = default;

  sigset_t mask_{};
  std::bitset<NSIG> ignored_;
};

}  // namespace custodian::cli
