#pragma once

/// \file
/// read_recipe() finds out which recipe a path without a queue is: a coroutine on the client's
/// strand.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "inspect/node_reading.hpp"

namespace custodian::recipes_detail {

/// Reads the recipe at the path into the inspection, whose foreign nodes must be the path's
/// children. Nodes that belong to the recipe are removed from the foreign ones.
[[nodiscard]] boost::asio::awaitable<error_code> read_recipe(
    LookPtr look, std::string path, std::shared_ptr<Inspection> inspection);

}  // namespace custodian::recipes_detail
