#pragma once

/// \file
/// PassedSignals are the signals that the runner passes on to its command.

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>

#include "guardian/signal_setting.hpp"

namespace custodian::cli {

/// Threads: the context's, one at a time. `as_started` must outlive it.
class PassedSignals {
 public:
  /// Called on the context with each signal that arrives.
  using Listener = std::function<void(int signal)>;

  PassedSignals(boost::asio::io_context& context, const SignalSetting& as_started,
                Listener listener);

  /// Begins to receive the signals. From now on the terminal's stop signals reach the calling
  /// thread. A signal that was ignored at our start (nohup, a shell's background job) stays
  /// ignored.
  void listen();
  /// Stops this process as the command was stopped, with its whole process group. Returns when it
  /// is continued.
  void stop_self(int signal);

 private:
  void wait();

  const SignalSetting& as_started_;
  Listener listener_;
  boost::asio::signal_set signals_;
};

}  // namespace custodian::cli
