#pragma once

/// \file
/// These functions are the steps of a wait that all recipes share: they watch the own node, wait
/// for an event, and report the position. For the strand only.

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Whether a watch on the own node is armed.
[[nodiscard]] bool is_watched(const OwnedNode& own);
/// Arms a watch on the own node, unless one is armed; no_node if the node is gone.
[[nodiscard]] boost::asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnedNode& own);
/// Ends with the first event, or when the acquire is given up. A lost session is no error here: the
/// next listing shows it.
[[nodiscard]] boost::asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers);
/// Reports how many contenders are ahead, and `nearest`, if the caller has asked for positions.
void tell_position(const Acquire& acquire, std::size_t ahead);

}  // namespace custodian::recipes_detail
