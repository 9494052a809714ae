#pragma once

/// \file
/// GuardianLink is the runner's connection to its guardian.

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guardian/guardian_messages.hpp"
#include "guardian/signal_setting.hpp"

namespace custodian::cli {

/// Threads: one at a time. The destructor calls end().
class GuardianLink {
 public:
  /// Called with every report, and with nothing if the guardian was killed.
  using Listener = std::function<void(std::optional<Report>)>;

  /// Forks the guardian. Construct it before this process has any thread, and before it changes its
  /// signal settings. Throws std::system_error.
  GuardianLink(boost::asio::io_context& context, std::vector<std::string> command,
               const SignalSetting& as_started);
  GuardianLink(const GuardianLink&) = delete;
  GuardianLink& operator=(const GuardianLink&) = delete;
  ~GuardianLink();

  /// Calls the listener on the context, until the link is destroyed.
  void listen(Listener listener);
  /// Sends an order. `environment` goes with the order `start`: variables "NAME=value". Does not
  /// block: a guardian that is stopped for a minute or more loses the orders that exceed its queue.
  void send(const Order& order, const std::vector<std::string>& environment = {});

  /// The processes under the guardian now: the command, and every process that it has started.
  [[nodiscard]] std::vector<pid_t> processes() const;

  /// Ends the guardian and the processes under it, and waits until they are gone. Afterwards
  /// nothing is reported, and nothing can be sent. A second call does nothing.
  void end();

  /// Ends the processes that a killed guardian has left behind, and waits until they are gone.
  /// Spares children that are older than the guardian.
  void end_orphans() const;

 private:
  void wait();
  void receive();

  /// Children that this process had before its exec(): a shell may have started background jobs.
  std::vector<pid_t> foreign_;
  pid_t guardian_ = -1;
  boost::asio::posix::stream_descriptor socket_;
  Listener listener_;
};

}  // namespace custodian::cli
