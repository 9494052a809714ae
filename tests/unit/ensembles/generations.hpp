#pragma once

/// \file
/// Layouts and copies of a moving map, for its tests.

#include <random>
#include <string>
#include <vector>

#include "ensembles/map_copy.hpp"

namespace custodian::tests::generations {

/// A layout of these ensembles, with equal weights.
[[nodiscard]] inline EnsembleLayout layout_of(const std::vector<std::string>& names) {
  EnsembleLayout layout;
  for (const std::string& each : names) layout.ensembles[each] = 1;
  return layout;
}

/// A copy with these generations, at this version.
[[nodiscard]] inline recipes_detail::MapCopy copy_of(std::int64_t version,
                                                     std::vector<EnsembleLayout> generations) {
  recipes_detail::MapCopy copy{.version = version, .generations = std::move(generations)};
  std::int64_t number = 0;
  for (EnsembleLayout& each : copy.generations) each.version = ++number;
  return copy;
}

/// A layout of some of five ensembles, with a pin now and then.
template <typename Random>
[[nodiscard]] EnsembleLayout any_layout(Random& random) {
  EnsembleLayout layout;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    if (random() % 2 == 0) layout.ensembles[name] = 1 + static_cast<int>(random() % 2);
  }
  if (layout.ensembles.empty()) layout.ensembles["a"] = 1;
  if (random() % 2 == 0) layout.pins["/pinned"] = layout.ensembles.begin()->first;
  return layout;
}

}  // namespace custodian::tests::generations
