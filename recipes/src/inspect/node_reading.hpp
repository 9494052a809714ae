#pragma once

/// \file
/// How the parts of an inspection read nodes. For coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/inspect/inspect.hpp"

namespace custodian::recipes_detail {

/// The client, the cancellation and the options of one inspection.
struct Look {
  Client client;
  CancellationPtr cancellation;
  std::size_t permits;
  OperationOptions options;
};
using LookPtr = std::shared_ptr<const Look>;

/// Reads the children with these names, in their order. The entry of a node that is gone is empty.
[[nodiscard]] boost::asio::awaitable<Result<std::vector<std::optional<GetResult>>>> read_nodes(
    LookPtr look, std::string path, std::vector<std::string> names);

/// The owner of a node.
[[nodiscard]] Participant participant_of(const Look& look, std::string node, GetResult result);

}  // namespace custodian::recipes_detail
