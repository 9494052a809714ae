#pragma once

/// \file
/// back_off() is the pause between tries that go on until they are cancelled.

#include <boost/asio/awaitable.hpp>

#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// Pauses for as long as the client's retry policy says after this number of failures; the policy's
/// limit of retries does not apply. Ends early at the deadline, or when cancelled. Called on the
/// strand only.
[[nodiscard]] boost::asio::awaitable<void> back_off(const Client& client, int failures,
                                                    Deadline until, CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
