#pragma once

/// \file
/// The publisher of a moving map: it leads the copies from one version to the next.

#include <boost/asio/awaitable.hpp>
#include <chrono>

#include "custodian/ensembles/ensemble_layout.hpp"
#include "ensembles/map_follower.hpp"

namespace custodian::recipes_detail {

/// Moves the map to a layout, from any thread; creates the map if there is none. A move that is
/// under way is ended first. While members have not announced a version, looks again every
/// `look_every`. Completes when all copies are stable, and the layout has been theirs since the
/// call. Errors: invalid_argument (an ensemble without a client, or copies of two maps),
/// malformed_data, operation_aborted, closed, and what does not pass at any ensemble. The handler
/// runs on the home strand, or within this call.
void start_map_move(const MapFollowerPtr& follower, CancellationPtr cancellation,
                    EnsembleLayout layout, std::chrono::milliseconds look_every, Handler<> handler);

}  // namespace custodian::recipes_detail
