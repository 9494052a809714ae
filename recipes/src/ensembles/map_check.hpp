#pragma once

/// \file
/// MapCheck is one look at all ensembles of a map: whether they have its layout.

#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/ensembles/ensemble_map.hpp"

namespace custodian::recipes_detail {

/// One ensemble that a check reads.
struct AskedEnsemble {
  std::string name;
  Client client;  ///< does not own: a check may end on a thread that must not end a client
};

/// Immutable. The ensembles are in the order of their names.
struct MapCheck {
  std::vector<AskedEnsemble> ensembles;
  std::string path;
  EnsembleLayout layout;
  std::string text;         ///< the layout's text
  std::string fingerprint;  ///< the layout's fingerprint

  /// The client on whose strand the check runs.
  [[nodiscard]] const Client& home() const { return ensembles.front().client; }
};

/// What one ensemble has: no error if it has this layout; invalid_argument, with a fingerprint, if
/// it has another layout; or the error of the look.
struct LayoutSight {
  error_code error{};
  std::string fingerprint{};
};

/// Judges the data of an ensemble's node. Pure.
[[nodiscard]] LayoutSight judge_layout(const MapCheck& check, const std::string& data);

/// The outcome of a check, from what each ensemble has. It shows a different layout before any
/// other error, and of several ensembles the one whose name is first. Pure.
struct MapOutcome {
  error_code error{};
  MapVerdict verdict{};
};
[[nodiscard]] MapOutcome outcome_of(const MapCheck& check, const std::vector<LayoutSight>& sights);

/// Starts a check, from any thread. The handler runs on the strand of its home, or within this
/// call.
void start_map_check(const MapCheckPtr& check, CancellationPtr cancellation,
                     OperationOptions options, Handler<MapVerdict> handler);

}  // namespace custodian::recipes_detail
