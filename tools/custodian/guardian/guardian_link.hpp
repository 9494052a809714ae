#pragma once

/// \file
/// The runner's end of its guardian.

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

/// Threads: one at a time. Lifetimes: the destructor does what end() does.
class GuardianLink {
 public:
  /// Told of every report; of nothing when the guardian is gone, which it is not by itself.
  using Listener = std::function<void(std::optional<Report>)>;

  /// Forks the guardian: before this process has any thread, and with the signals as it was started
  /// with. Throws std::system_error.
  GuardianLink(boost::asio::io_context& context, std::vector<std::string> command,
               const SignalSetting& as_started);
  GuardianLink(const GuardianLink&) = delete;
  GuardianLink& operator=(const GuardianLink&) = delete;
  ~GuardianLink();

  /// On the context, until the link is destroyed.
  void listen(Listener listener);
  /// With the variables "NAME=value" of an order to start. Does not block: a guardian that is
  /// stopped alone, for a minute or more, misses what is too much for its queue, of any kind.
  void send(const Order& order, const std::vector<std::string>& environment = {});

  /// What the guardian runs now: the command, and what that has started.
  [[nodiscard]] std::vector<pid_t> processes() const;

  /// Ends whatever the guardian still runs, and the guardian, and waits for that: nothing is told
  /// any more, and nothing can be sent. Does nothing the second time.
  void end();

  /// Should the guardian be killed: ends what it has left behind, which is ours then, and waits for
  /// that. Spares what was there before the guardian.
  void end_orphans() const;

 private:
  void wait();
  void receive();

  /// Children that were here before us: exec() of a shell with jobs in the background leaves some.
  std::vector<pid_t> foreign_;
  pid_t guardian_ = -1;
  boost::asio::posix::stream_descriptor socket_;
  Listener listener_;
};

}  // namespace custodian::cli
