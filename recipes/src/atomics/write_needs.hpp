#pragma once

/// \file
/// What an update needs before it writes: the lock, the witness or the watch, and the value. Strand
/// only.

#include <boost/asio/awaitable.hpp>

#include "atomics/update_run.hpp"

namespace custodian::recipes_detail {

/// Gets all that the update does not have yet. Afterwards `found` is the value, as it was read or
/// as an earlier update has left it.
[[nodiscard]] boost::asio::awaitable<error_code> get_ready(UpdatePtr update);

/// Reads the value. If the node is missing, it is created first.
[[nodiscard]] boost::asio::awaitable<error_code> read_value(UpdatePtr update);

}  // namespace custodian::recipes_detail
