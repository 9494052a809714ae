#pragma once

/// \file
/// The creation of a distributed atomic's node with its first value.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "atomics/atomic_node.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// Returns whether this call has created the node. `options.deadline` must be set: no default
/// applies here. Strand only.
[[nodiscard]] boost::asio::awaitable<Result<bool>> initialize(AtomicNodePtr node,
                                                              CancellationPtr cancellation,
                                                              std::string first,
                                                              OperationOptions options);

}  // namespace custodian::recipes_detail
