#pragma once

/// \file
/// Entering a double barrier: for coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>

#include "barriers/party.hpp"

namespace custodian::recipes_detail {

/// Waits until the member is in a complete party. Errors: session_lost, node_deleted, and those
/// common to all operations.
[[nodiscard]] boost::asio::awaitable<Result<void>> until_complete(PartyPtr party,
                                                                  CancellationPtr cancellation);

/// Takes out a member whose wait has ended. Returns true if it is too late for that, because the
/// member is in. Errors: session_lost, and those common to all operations.
[[nodiscard]] boost::asio::awaitable<Result<bool>> withdraw(PartyPtr party,
                                                            CancellationPtr cancellation,
                                                            OperationOptions options);

}  // namespace custodian::recipes_detail
