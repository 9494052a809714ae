#pragma once

/// \file
/// For those who have elsewhere to go: an acquire that ends when its servers are out of reach.

#include <boost/asio/awaitable.hpp>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Gives up when the servers are out of reach for longer than its patience allows; until `over`.
[[nodiscard]] boost::asio::awaitable<void> watch_reachability(AcquirePtr acquire,
                                                              CancellationPtr over);

}  // namespace custodian::recipes_detail
