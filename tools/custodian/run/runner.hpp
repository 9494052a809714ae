#pragma once

/// \file
/// The runner acquires a lock, permits or leadership, or joins a group, and runs a command under
/// it. `lock`, `semaphore`, `elect` and `member` share it; course.hpp decides, guardian.hpp runs
/// the command.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "options/global_options.hpp"
#include "run/after_command.hpp"
#include "run/run_options.hpp"

namespace custodian::cli {

/// A membership of a group, in the place of a lease. The runner learns of no loss; the membership
/// ends with the client.
struct Membership {
  std::string node{};
  std::vector<std::string> environment{};  ///< the command's variables, each "NAME=value"
};

/// Why nothing is to be run, though no server has failed.
struct Declined {
  int status = 0;         ///< the exit status
  std::string message{};  ///< empty: none
};

/// The outcome of an attempt: leases, or a membership; or none, and the contender that is in the
/// way, if known.
struct Outcome {
  error_code error{};
  std::vector<Lease> leases{};
  std::optional<Membership> membership{};
  std::optional<Participant> blocked_by{};
  std::optional<Declined> declined{};
  Conclude conclude{};
  /// Variables of the command besides those of a lease, each "NAME=value".
  std::vector<std::string> environment{};
};

struct Attempt {
  Deadline deadline{};
  AcquireOptions options{};
  boost::asio::cancellation_slot slot{};
  /// The executor that runs the handler.
  boost::asio::any_io_executor executor{};
};

/// Begins an acquire. Calls the handler once.
using Acquire = std::function<void(Attempt attempt, std::function<void(Outcome)> handler)>;
/// Makes the recipe's Acquire. May throw Error (invalid_argument).
using MakeAcquire = std::function<Acquire(const Client& client)>;

/// Acquires, runs the command, and returns the exit status. The command inherits this process's
/// environment without the credentials (forget_credentials()). To be called before this process has
/// any thread. Throws UsageError, and Error for wrong arguments.
[[nodiscard]] int run_under(const GlobalOptions& global, const RunOptions& options,
                            std::vector<std::string> command, const MakeAcquire& make_acquire);

}  // namespace custodian::cli
