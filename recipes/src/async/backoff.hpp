#pragma once

/// \file
/// The pause of those who try again until somebody ends them.

#include <boost/asio/awaitable.hpp>

#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// After so many failures, as the client's retry policy has it, whose limit of tries does not
/// count. Ends early at the deadline, or when it is cancelled. Strand only.
[[nodiscard]] boost::asio::awaitable<void> back_off(const Client& client, int failures,
                                                    Deadline until, CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
