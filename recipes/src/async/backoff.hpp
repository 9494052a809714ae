#pragma once

/// \file
/// back_off() is the pause between tries that go on until they are cancelled.

#include <boost/asio/awaitable.hpp>

#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// Pauses as the client's retry policy says after so many failures; the policy's limit of retries
/// does not apply. Ends early at the deadline, or when it is cancelled. Strand only.
[[nodiscard]] boost::asio::awaitable<void> back_off(const Client& client, int failures,
                                                    Deadline until, CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
