#pragma once

/// \file
/// The publisher of a moving map: it leads the copies from one version to the next.

#include <boost/asio/awaitable.hpp>
#include <chrono>

#include "custodian/ensembles/ensemble_layout.hpp"
#include "ensembles/map_follower.hpp"

namespace custodian::recipes_detail {

/// Moves the map to a layout, from any thread. Creates the map if there is none, and ends a move
/// that is under way first. While members have not announced a version, it looks again every
/// `look_every`. Completes when all copies are stable, and have had the layout at some time since
/// the call. Errors: invalid_argument (an ensemble without a client, or copies of two maps),
/// malformed_data, operation_aborted, closed, and any ensemble's error that is not passing. The
/// handler runs on the home strand, or within this call.
void start_map_move(const MapFollowerPtr& follower, CancellationPtr cancellation,
                    EnsembleLayout layout, std::chrono::milliseconds look_every, Handler<> handler);

}  // namespace custodian::recipes_detail
