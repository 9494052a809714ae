#pragma once

/// \file
/// What the processes of a moving map agree on: the paths, and the layouts of the steps. And how
/// many paths should move from one layout to the next. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "custodian/ensembles/ensemble_layout.hpp"

namespace custodian::tests::moving {

/// The paths, "/locks/g3/p37": ten in a group.
[[nodiscard]] std::vector<std::string> paths_of(int count);
/// The node that a path's lock guards, at each of its homes: "/guarded/g3-p37".
[[nodiscard]] std::string guarded_node(const std::string& path);

/// The layout of step 0, with which the map begins, and of the steps to which it moves, one after
/// the other. They go round: weights, pins, the depth, and ensembles that are left out.
[[nodiscard]] EnsembleLayout layout_of_step(int step);

/// The share of these paths that a move from one layout to another moves by rendezvous hashing, as
/// expected of a random hash: as few as the weights allow.
[[nodiscard]] double ideal_share(const EnsembleLayout& from, const EnsembleLayout& to,
                                 const std::vector<std::string>& paths);
/// By how much a share may differ from that by chance, which is rare: so many keys were drawn.
[[nodiscard]] double slack_of_share(const EnsembleLayout& from, const EnsembleLayout& to,
                                    const std::vector<std::string>& paths);

}  // namespace custodian::tests::moving
