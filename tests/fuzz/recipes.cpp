/// \file
/// The data of any node, and behind a line feed its children, one a line, as the command shows them
/// to people where no queue is.

#include <algorithm>

#include "fuzz.hpp"
#include "inspect/recipe_reading.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void recipes(std::string_view input) {
  using namespace recipes_detail;
  auto children = split(input, '\n');
  GetResult node{.data = children.front()};
  children.erase(children.begin());
  // A double barrier's data have several lines.
  std::ranges::replace(node.data, '\t', '\n');
  std::ranges::sort(children);
  children.erase(std::unique(children.begin(), children.end()), children.end());

  const Layout layout = layout_of(node, children);
  const auto count = std::ranges::count_if(
      children, [&](const std::string& child) { return belongs_to(layout, child); });
  require(layout != Layout::none || count == 0, "what is no recipe has no children");
  if (layout == Layout::latch) {
    const InspectedLatch latch = latch_of(node, children);
    require(latch.expected >= 0 && latch.arrivals > 0, "a latch expects some, and some have come");
  }
  if (layout == Layout::rate) require(rate_of(node).cost.count() >= 0, "a cost is positive");
  const std::vector<std::string> arrivals = arrivals_among(children, 3);
  for (const std::string& each : arrivals) {
    require(belongs_to(Layout::phases, each), "an arrival belongs to a barrier");
  }
  const InspectedValue value = value_of(node);
  const bool has_number_size = value.data.size() == 4 || value.data.size() == 8;
  require(value.number.has_value() == has_number_size, "a number has four bytes, or eight");

  InspectedDoubleBarrier barrier;
  for (std::size_t i = 0; i != children.size(); ++i) {
    barrier.members.push_back(
        {.participant = {.node = "/p/" + children[i], .token = {0, static_cast<std::int64_t>(i)}},
         .is_in = false});
  }
  GetResult ready = node;
  ready.stat.czxid = 2;
  judge_party(barrier, ready);
  const bool is_anyone_in = std::ranges::any_of(barrier.members, &InspectedMember::is_in);
  require(barrier.is_stale || is_anyone_in, "a party that is not stale has members");
}

}  // namespace custodian::fuzz
