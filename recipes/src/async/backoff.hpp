#pragma once

/// \file
/// The pauses between tries: back_off() for tries that go on until they are cancelled,
/// pause_before() and pause_for() for tries that a retry policy of their own limits.

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>

#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// How long the policy pauses before the next try, with a random part; nothing if it allows no
/// further try. `elapsed` is the time since the call.
[[nodiscard]] std::optional<std::chrono::milliseconds> pause_before(
    const RetryPolicy& policy, int retries_so_far, std::chrono::milliseconds elapsed);

/// Pauses. Ends early at the deadline, when cancelled, or when the client begins to close; a pause
/// that begins while the client closes is short. Called on the strand only; `client` must outlive
/// the pause.
[[nodiscard]] boost::asio::awaitable<void> pause_for(const Client& client,
                                                     std::chrono::milliseconds duration,
                                                     Deadline until, CancellationPtr cancellation);

/// Pauses for as long as the client's retry policy says after this number of failures. The policy's
/// limit of retries does not apply. Otherwise as pause_for().
[[nodiscard]] boost::asio::awaitable<void> back_off(const Client& client, int failures,
                                                    Deadline until, CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
