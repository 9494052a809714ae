#pragma once

/// \file
/// These functions give signals to waiters, and pass the signals on of waiters that have gone. For
/// coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <string>

#include "conditions/condition_line.hpp"
#include "conditions/condition_spec.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// The data of a waiter that has been signalled. What counts is that they change: the waiter
/// watches them.
inline constexpr std::string_view signalled_data = "signalled";

/// Reads the line as its server shows it.
[[nodiscard]] boost::asio::awaitable<Result<ConditionLine>> list_line(ConditionSpecPtr condition,
                                                                      CancellationPtr cancellation,
                                                                      OperationOptions options);

/// Passes signals whose waiters have gone to the first waiters that have none; `line` is the newest
/// listing, and so is the result.
[[nodiscard]] boost::asio::awaitable<Result<ConditionLine>> pass_on(ConditionSpecPtr condition,
                                                                    CancellationPtr cancellation,
                                                                    OperationOptions options,
                                                                    ConditionLine line);

/// Signals the first waiters that have no signal, `most` of them. `lease` is the signaller's.
/// Returns how many were signalled.
[[nodiscard]] boost::asio::awaitable<Result<std::size_t>> signal_waiters(
    ConditionSpecPtr condition, CancellationPtr cancellation, Lease lease, std::size_t most,
    OperationOptions options);

}  // namespace custodian::recipes_detail
