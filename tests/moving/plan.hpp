#pragma once

/// \file
/// The plan that the processes of a moving map share: the paths, and the layouts of the steps.
/// Also, how many paths should move from one layout to the next. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "custodian/ensembles/ensemble_layout.hpp"

namespace custodian::tests::moving {

/// The paths, "/locks/g3/p37": ten in a group.
[[nodiscard]] std::vector<std::string> paths_of(int count);
/// The node that a path's lock guards, at each of its homes: "/guarded/g3-p37".
[[nodiscard]] std::string guarded_node(const std::string& path);

/// The layout of a step. The map begins with step 0, and moves from step to step. In turn the steps
/// change the weights, the pins, the depth, and the ensembles that take part.
[[nodiscard]] EnsembleLayout layout_of_step(int step);

/// The share of these paths that should move from one layout to another with rendezvous hashing and
/// a random hash: as few as the weights allow.
[[nodiscard]] double ideal_share(const EnsembleLayout& from, const EnsembleLayout& to,
                                 const std::vector<std::string>& paths);
/// By how much the share may differ from ideal_share() by chance; a greater difference is very
/// unlikely.
[[nodiscard]] double slack_of_share(const EnsembleLayout& from, const EnsembleLayout& to,
                                    const std::vector<std::string>& paths);

}  // namespace custodian::tests::moving
