#include "inspect/node_reading.hpp"

#include <utility>

#include "async/started_operation.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

asio::awaitable<Result<std::vector<std::optional<GetResult>>>> read_nodes(
    LookPtr look, std::string path, std::vector<std::string> names) {
  // All reads travel together; each is awaited.
  std::vector<StartedOperation<GetResult>> reads;
  reads.reserve(names.size());
  for (const std::string& name : names) {
    reads.push_back(StartedOperation<GetResult>::start<&start_get>(
        look->client.get_executor(), look->client.core(), look->cancellation, join(path, name),
        look->options));
  }
  error_code failure;
  std::vector<std::optional<GetResult>> nodes(reads.size());
  for (std::size_t i = 0; i != reads.size(); ++i) {
    auto [error, result] = co_await reads[i].get();
    if (!error) {
      nodes[i] = std::move(result);
    } else if (error != ServerErrc::no_node) {
      failure = error;
    }
  }
  if (failure) co_return failure;
  co_return std::move(nodes);
}

Participant participant_of(const Look& look, std::string node, GetResult result) {
  return {.node = std::move(node),
          .identity = std::move(result.data),
          .session = result.stat.ephemeral_owner,
          .since = result.stat.created,
          .token = {look.client.fencing_epoch(), result.stat.czxid}};
}

}  // namespace custodian::recipes_detail
