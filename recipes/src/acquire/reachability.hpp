#pragma once

/// \file
/// watch_reachability() ends an acquire when its servers are out of reach, for callers that have
/// other ensembles.

#include <boost/asio/awaitable.hpp>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Gives up the acquire when the servers have been out of reach for longer than its
/// `max_unreachable`, or when it has not entered its queue within that time. Runs until `over` is
/// requested.
[[nodiscard]] boost::asio::awaitable<void> watch_reachability(AcquirePtr acquire,
                                                              CancellationPtr over);

}  // namespace custodian::recipes_detail
