#pragma once

/// \file
/// These functions give signals to waiters, and pass on the signals of waiters that have gone.
/// Called by coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <string>

#include "conditions/condition_line.hpp"
#include "conditions/condition_spec.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// The data that a signal writes into the waiter's node. They do not matter: the waiter, which
/// watches its node, looks only for a change.
inline constexpr std::string_view signalled_data = "signalled";

/// Lists the waiters and their signals, as the client's server shows them.
[[nodiscard]] boost::asio::awaitable<Result<ConditionLine>> list_line(ConditionSpecPtr condition,
                                                                      CancellationPtr cancellation,
                                                                      OperationOptions options);

/// Passes the signals of waiters that have gone to the first waiters that have none. `line` is the
/// newest listing so far. Returns the newest listing at the end.
[[nodiscard]] boost::asio::awaitable<Result<ConditionLine>> pass_on(ConditionSpecPtr condition,
                                                                    CancellationPtr cancellation,
                                                                    OperationOptions options,
                                                                    ConditionLine line);

/// Signals the first waiters that have no signal, at most `most` of them. `lease` is the signalling
/// holder's. Returns how many were signalled.
[[nodiscard]] boost::asio::awaitable<Result<std::size_t>> signal_waiters(
    ConditionSpecPtr condition, CancellationPtr cancellation, Lease lease, std::size_t most,
    OperationOptions options);

}  // namespace custodian::recipes_detail
