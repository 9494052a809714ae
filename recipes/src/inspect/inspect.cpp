#include "custodian/inspect/inspect.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "acquire/participants.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/lease/revocation.hpp"
#include "inspect/node_reading.hpp"
#include "inspect/queue_reading.hpp"
#include "inspect/recipe_look.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

namespace {

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

asio::awaitable<std::tuple<error_code, QueueReading>> list(LookPtr look, std::string path) {
  auto [error, children] = co_await await<&start_children, Children>(
      look->client.core(), look->cancellation, path, look->options);
  if (error == ServerErrc::no_node) error.clear();
  co_return std::tuple{error, read_queues(std::move(children.names))};
}

void name_oddities(Inspection& inspection, const std::string& path, const QueueReading& reading) {
  for (const std::string& name : reading.malformed) {
    inspection.malformed.push_back(join(path, name));
  }
  for (const std::string& name : reading.foreign) inspection.foreign.push_back(join(path, name));
}

/// Reads the contenders' nodes, and adds those that still exist to the inspection.
asio::awaitable<error_code> read_contenders(LookPtr look, std::string path,
                                            std::vector<Standpoint> standpoints,
                                            std::shared_ptr<Inspection> inspection) {
  std::vector<std::string> names;
  for (const Standpoint& each : standpoints) names.push_back(each.name);
  Result<std::vector<std::optional<GetResult>>> nodes =
      co_await read_nodes(look, path, std::move(names));
  if (!nodes) co_return nodes.error();
  for (std::size_t i = 0; i != standpoints.size(); ++i) {
    if (!(*nodes)[i]) continue;
    GetResult result = std::move(*(*nodes)[i]);
    const Standpoint& each = standpoints[i];
    const bool asked = is_asked(result);
    // If a request to release has replaced the identity, the identity is unknown.
    if (result.data == revoke_message) result.data.clear();
    inspection->contenders.push_back(
        {.participant = participant_of(*look, join(path, each.name), std::move(result)),
         .claim = each.claim,
         .standing = each.standing,
         .ahead = each.ahead,
         .profile = each.profile,
         .is_asked_to_release = asked});
  }
  co_return error_code{};
}

/// Judges the permits again. `taking` is the session of the first contender in the line, which may
/// be taking some of the permits at this moment.
void judge_permits_of(Inspection& permits, QueueReading reading, std::int64_t taking,
                      std::size_t maximum) {
  for (Inspected& permit : permits.contenders) {
    const std::string& node = permit.participant.node;
    const std::string_view name = name_of(node);
    const auto at = std::ranges::find(reading.standpoints, name, &Standpoint::name);
    const auto index = static_cast<std::size_t>(at - reading.standpoints.begin());
    judge_permit(reading, {index, permit.participant.session == taking}, maximum);
    permit.standing = reading.standpoints[index].standing;
    permit.ahead = reading.standpoints[index].ahead;
  }
}

asio::awaitable<error_code> read_semaphore(LookPtr look, std::string path,
                                           std::shared_ptr<Inspection> inspection) {
  const std::string leases = join(path, permits_part);
  const std::string locks = join(path, line_part);
  auto [leases_error, permits] = co_await list(look, leases);
  if (leases_error) co_return leases_error;
  auto [locks_error, line] = co_await list(look, locks);
  if (locks_error) co_return locks_error;

  auto holders = std::make_shared<Inspection>();
  auto waiters = std::make_shared<Inspection>();
  error_code error = co_await read_contenders(look, leases, permits.standpoints, holders);
  if (!error) error = co_await read_contenders(look, locks, line.standpoints, waiters);
  if (error) co_return error;

  if (!waiters->contenders.empty()) {
    judge_permits_of(*holders, permits, waiters->contenders.front().participant.session,
                     look->permits);
  }
  for (Inspected& waiter : waiters->contenders) {
    waiter.claim = Claim::turn;
    waiter.standing = Standing::waits;
  }
  for (const auto& part : {holders, waiters}) {
    std::ranges::move(part->contenders, std::back_inserter(inspection->contenders));
  }
  name_oddities(*inspection, leases, permits);
  name_oddities(*inspection, locks, line);
  co_return error_code{};
}

asio::awaitable<Result<Inspection>> look_at(LookPtr look, std::string path) {
  auto inspection = std::make_shared<Inspection>();
  auto [error, reading] = co_await list(look, path);
  // The two children of a semaphore's node are in no queue, but are not foreign either.
  const bool is_semaphore =
      std::erase(reading.foreign, permits_part) + std::erase(reading.foreign, line_part) > 0;
  if (!error) {
    name_oddities(*inspection, path, reading);
    error = co_await read_contenders(look, path, reading.standpoints, inspection);
  }
  if (!error && is_semaphore) error = co_await read_semaphore(look, path, inspection);
  const bool is_queue = is_semaphore || !reading.standpoints.empty() || !reading.malformed.empty();
  if (!error && !is_queue) error = co_await read_recipe(look, path, inspection);
  if (error) co_return error;
  co_return std::move(*inspection);
}

}  // namespace

void start_inspect(CorePtr, CancellationPtr cancellation, Client client, std::string path,
                   InspectOptions options, Handler<Inspection> handler) {
  options.operation.deadline = client.deadline_or_default(options.operation.deadline);
  const auto look = std::make_shared<Look>(
      Look{std::move(client), std::move(cancellation), options.permits, options.operation});
  const std::string what = "a look at " + path;
  spawn(look->client.core(), what, look_at(look, std::move(path)), std::move(handler));
}

}  // namespace recipes_detail

Inspection inspect(const Client& client, const std::string& path, InspectOptions options,
                   std::stop_token stop) {
  check_path(client.core(), "inspect", path);
  return block_in_time_or_throw<&recipes_detail::start_inspect, Inspection>(
      client.core(), "inspect", path, std::move(stop), {options.operation.deadline}, client.share(),
      path, options);
}

}  // namespace custodian
