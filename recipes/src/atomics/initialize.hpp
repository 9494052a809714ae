#pragma once

/// \file
/// The creation of a distributed atomic's node with its first value.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "atomics/atomic_node.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// Whether this call has created the node. `options` has a deadline that is not a default one.
/// Strand only.
[[nodiscard]] boost::asio::awaitable<Result<bool>> initialize(AtomicNodePtr node,
                                                              CancellationPtr cancellation,
                                                              std::string first,
                                                              OperationOptions options);

}  // namespace custodian::recipes_detail
