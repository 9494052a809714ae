#pragma once

/// \file
/// The runner runs a command under something that is acquired: a lock, permits, leadership. `lock`,
/// `semaphore` and `elect` share it; course.hpp decides, guardian.hpp runs the command.

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
#include "run/run_options.hpp"

namespace custodian::cli {

/// The end of an attempt: leases, or none and perhaps the contender that is in the way.
struct Outcome {
  error_code error{};
  std::vector<Lease> leases{};
  std::optional<Participant> blocked_by{};
};

struct Attempt {
  Deadline deadline{};
  AcquireOptions options{};
  boost::asio::cancellation_slot slot{};
  /// Where the handler runs.
  boost::asio::any_io_executor executor{};
};

/// Begins to acquire; the handler is called once.
using Acquire = std::function<void(Attempt attempt, std::function<void(Outcome)> handler)>;
/// May throw Error (invalid_argument).
using MakeAcquire = std::function<Acquire(const Client& client)>;

/// Runs it, and returns the exit status. The command inherits this process's environment, but for
/// the credentials (forget_credentials()). To be called before this process has any thread. Throws
/// UsageError, and Error for arguments that are wrong.
[[nodiscard]] int run_under(const GlobalOptions& global, const RunOptions& options,
                            std::vector<std::string> command, const MakeAcquire& make_acquire);

}  // namespace custodian::cli
