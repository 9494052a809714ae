#pragma once

/// \file
/// These functions recognise a recipe without a queue by the layout of its nodes. Pure: names and
/// data in, descriptions out. Safe to use from any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspected_recipe.hpp"
#include "custodian/node.hpp"

namespace custodian::recipes_detail {

enum class Layout : std::uint8_t {
  none,
  condition,
  double_barrier,
  /// A double barrier of Curator's or kazoo's, if the children are ephemeral.
  perhaps_double_barrier,
  phases,
  latch,
  rate,
  value,
};

/// The layout of a node with these children that belong to no queue.
[[nodiscard]] Layout layout_of(const GetResult& node, const std::vector<std::string>& children);
/// Whether a child with this name belongs to a recipe of this layout.
[[nodiscard]] bool belongs_to(Layout layout, std::string_view child);

/// The names of a phase's arrivals among these children.
[[nodiscard]] std::vector<std::string> arrivals_among(const std::vector<std::string>& children,
                                                      std::int32_t phase);
[[nodiscard]] InspectedLatch latch_of(const GetResult& node,
                                      const std::vector<std::string>& children);
/// The description of a node whose layout is Layout::rate.
[[nodiscard]] InspectedRate rate_of(const GetResult& node);
/// The description of a node whose layout is Layout::value, without its witnesses.
[[nodiscard]] InspectedValue value_of(GetResult node);

/// Decides which members of a double barrier are in, and whether its ready node is left over, by
/// the rules of a member that comes late (party_entry.cpp). The ready node must exist.
void judge_party(InspectedDoubleBarrier& barrier, const GetResult& ready);

}  // namespace custodian::recipes_detail
