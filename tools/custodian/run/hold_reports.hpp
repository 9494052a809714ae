#pragma once

/// \file
/// HoldReports tells the guardian until when the lock is certainly held, so that the guardian can
/// end the command without the runner.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "custodian/client.hpp"
#include "guardian/guardian_link.hpp"
#include "guardian/guardian_messages.hpp"
#include "run/holding.hpp"
#include "run/run_options.hpp"

namespace custodian::cli {

/// Threads: the context's, one at a time. The constructor's arguments must outlive the object.
class HoldReports {
 public:
  /// `asked_timeout` is the session timeout until the servers have agreed to one.
  HoldReports(boost::asio::io_context& context, GuardianLink& guardian, const Client& client,
              const Holding& holding, const RunOptions& options,
              std::chrono::nanoseconds asked_timeout);

  /// An order of this kind, with the time until which the lock is certainly held.
  [[nodiscard]] Order order(Order::Kind kind) const;
  /// Begins to send the time again and again, until end(), or until the lock is released.
  void begin();
  void end();

 private:
  [[nodiscard]] std::chrono::nanoseconds session_timeout() const;

  GuardianLink& guardian_;
  const Client& client_;
  const Holding& holding_;
  const RunOptions& options_;
  const std::chrono::nanoseconds asked_timeout_;
  boost::asio::steady_timer beat_;
};

}  // namespace custodian::cli
