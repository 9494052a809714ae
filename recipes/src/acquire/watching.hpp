#pragma once

/// \file
/// The steps of a wait that all recipes share are here: to watch the own node, to wait for others',
/// and to report the position. For the strand only.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Whether a watch on the own node is armed.
[[nodiscard]] bool is_watched(const OwnedNode& own);
/// Makes a change of the own node end the wait; no_node if it has gone.
[[nodiscard]] boost::asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnedNode& own);
/// Ends with the first event, or when the acquire is given up. A session that is over is no error:
/// it shows in the next listing.
[[nodiscard]] boost::asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers);
/// Reports to the caller, if it has asked for that, how many contenders are ahead, and `nearest`.
void tell_position(const Acquire& acquire, std::size_t ahead);

}  // namespace custodian::recipes_detail
