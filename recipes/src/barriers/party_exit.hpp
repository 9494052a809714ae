#pragma once

/// \file
/// Leaving a double barrier: for coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>

#include "barriers/party.hpp"

namespace custodian::recipes_detail {

/// Leaves, and waits until all others have left. Errors: session_lost, node_deleted, and those
/// common to all operations.
[[nodiscard]] boost::asio::awaitable<Result<void>> until_left(PartyPtr party,
                                                              CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
