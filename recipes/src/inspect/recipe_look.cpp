#include "inspect/recipe_look.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "barriers/party_rules.hpp"
#include "conditions/condition_line.hpp"
#include "conditions/signalling.hpp"
#include "custodian/authoring/path.hpp"
#include "inspect/recipe_reading.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

using Names = std::vector<std::string>;
using Participants = std::vector<Participant>;

/// The owners of the nodes with these names that still exist, in the order of the names.
asio::awaitable<Result<Participants>> read_owners(LookPtr look, std::string path, Names names) {
  Result<std::vector<std::optional<GetResult>>> nodes = co_await read_nodes(look, path, names);
  if (!nodes) co_return nodes.error();
  Participants owners;
  for (std::size_t i = 0; i != names.size(); ++i) {
    std::optional<GetResult>& node = (*nodes)[i];
    if (node) owners.push_back(participant_of(*look, join(path, names[i]), std::move(*node)));
  }
  co_return std::move(owners);
}

asio::awaitable<Result<InspectedRecipe>> read_condition(LookPtr look, std::string path,
                                                        Names children) {
  const ConditionLine line{children};
  Names names;
  for (const ConditionLine::Waiter& each : line.waiters()) names.push_back(each.name);
  Result<Participants> owners = co_await read_owners(look, path, std::move(names));
  if (!owners) co_return owners.error();
  InspectedCondition condition;
  auto waiter = line.waiters().begin();
  for (Participant& owner : *owners) {
    // Both are in the order of the waiters. A waiter that has gone has no owner here.
    while (waiter->name != name_of(owner.node)) ++waiter;
    if (owner.identity == signalled_data) owner.identity.clear();
    condition.waiters.push_back({std::move(owner), waiter->is_signalled});
  }
  for (const std::string& gone : line.left_signals()) {
    condition.left_signals.push_back(join(path, signal_to(gone)));
  }
  co_return InspectedRecipe{std::move(condition)};
}

asio::awaitable<Result<InspectedRecipe>> read_double_barrier(LookPtr look, std::string path,
                                                             Names children) {
  const bool has_ready = std::ranges::find(children, ready_name) != children.end();
  Result<Participants> owners = co_await read_owners(look, path, members_of(std::move(children)));
  if (!owners) co_return owners.error();
  InspectedDoubleBarrier barrier;
  for (Participant& owner : *owners) barrier.members.push_back({std::move(owner)});
  if (has_ready) {
    const std::string ready_path = join(path, ready_name);
    const auto [error, ready] = co_await await<&start_get, GetResult>(
        look->client.core(), look->cancellation, ready_path, look->options);
    if (error && error != ServerErrc::no_node) co_return error;
    if (!error) judge_party(barrier, ready);
  }
  co_return InspectedRecipe{std::move(barrier)};
}

/// Reads a double barrier of another library, if the children are ephemeral.
asio::awaitable<Result<InspectedRecipe>> read_possible_barrier(LookPtr look, std::string path,
                                                               Names children) {
  const std::string first = join(path, children.front());
  const auto [error, node] = co_await await<&start_get, GetResult>(
      look->client.core(), look->cancellation, first, look->options);
  if (error && error != ServerErrc::no_node) co_return error;
  if (error || node.stat.ephemeral_owner == 0) co_return InspectedRecipe{};
  co_return co_await read_double_barrier(std::move(look), std::move(path), std::move(children));
}

asio::awaitable<Result<InspectedRecipe>> read_phases(LookPtr look, std::string path,
                                                     std::int32_t phase, Names children) {
  Names arrivals = arrivals_among(children, phase);
  InspectedPhases phases{.phase = phase, .left_over = children.size() - arrivals.size()};
  Result<Participants> owners = co_await read_owners(look, path, std::move(arrivals));
  if (!owners) co_return owners.error();
  phases.arrivals = std::move(*owners);
  std::ranges::sort(phases.arrivals, {}, &Participant::token);
  co_return InspectedRecipe{std::move(phases)};
}

asio::awaitable<Result<InspectedRecipe>> read_value(LookPtr look, std::string path, GetResult node,
                                                    Names witnesses) {
  Result<Participants> owners = co_await read_owners(look, path, std::move(witnesses));
  if (!owners) co_return owners.error();
  InspectedValue value = value_of(std::move(node));
  value.witnesses = std::move(*owners);
  co_return InspectedRecipe{std::move(value)};
}

/// Reads a recipe of this layout. `children` are the children that belong to it.
asio::awaitable<Result<InspectedRecipe>> read_by(Layout layout, LookPtr look, std::string path,
                                                 GetResult node, Names children) {
  switch (layout) {
    case Layout::condition:
      co_return co_await read_condition(std::move(look), std::move(path), std::move(children));
    case Layout::double_barrier:
      co_return co_await read_double_barrier(std::move(look), std::move(path), std::move(children));
    case Layout::perhaps_double_barrier:
      co_return co_await read_possible_barrier(std::move(look), std::move(path),
                                               std::move(children));
    case Layout::phases:
      co_return co_await read_phases(std::move(look), std::move(path), node.stat.version,
                                     std::move(children));
    case Layout::value:
      co_return co_await read_value(std::move(look), std::move(path), std::move(node),
                                    std::move(children));
    case Layout::latch: co_return InspectedRecipe{latch_of(node, children)};
    case Layout::rate: co_return InspectedRecipe{rate_of(node)};
    case Layout::none: break;
  }
  co_return InspectedRecipe{};
}

}  // namespace

asio::awaitable<error_code> read_recipe(LookPtr look, std::string path,
                                        std::shared_ptr<Inspection> inspection) {
  auto [error, node] = co_await await<&start_get, GetResult>(
      look->client.core(), look->cancellation, path, look->options);
  if (error == ServerErrc::no_node) co_return error_code{};
  if (error) co_return error;
  Names children;
  for (const std::string& child : inspection->foreign) children.emplace_back(name_of(child));
  const Layout layout = layout_of(node, children);
  std::erase_if(children, [&](const std::string& name) { return !belongs_to(layout, name); });
  Result<InspectedRecipe> recipe =
      co_await read_by(layout, std::move(look), std::move(path), std::move(node), children);
  if (!recipe) co_return recipe.error();
  inspection->recipe = std::move(*recipe);
  if (!std::holds_alternative<std::monostate>(inspection->recipe)) {
    std::erase_if(inspection->foreign,
                  [&](const std::string& child) { return belongs_to(layout, name_of(child)); });
  }
  co_return error_code{};
}

}  // namespace custodian::recipes_detail
