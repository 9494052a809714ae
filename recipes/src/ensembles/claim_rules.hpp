#pragma once

/// \file
/// The next step of a claim on a moving map, which is an acquire or a hold of a path: which locks
/// it takes and releases. Also says when a claim keeps its client from announcing a version. Pure.

#include <optional>
#include <string>
#include <vector>

#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

enum class ClaimPhase {
  acquiring,  ///< not granted yet
  holding,    ///< granted, and not lost or released
};

/// The locks and the place in a queue that a claim has.
struct ClaimState {
  ClaimPhase phase = ClaimPhase::acquiring;
  /// The homes at which the claim has the lock, without lost leases.
  std::vector<std::string> locks{};
  /// The home in whose queue the claim waits.
  std::optional<std::string> waits_at{};
};

/// The next step of a claim.
struct ClaimStep {
  /// The homes whose locks the claim releases.
  std::vector<std::string> drop{};
  /// The home whose lock the claim takes next, or already waits for; nothing if it has all locks.
  std::optional<std::string> take{};
};

/// The next step of a claim whose path has these homes: the old one, then the new one. An acquire
/// takes the locks in this order, and keeps none while it lacks one in front. A hold keeps the
/// locks that it has, and takes the missing one in addition.
[[nodiscard]] ClaimStep next_step(const std::vector<std::string>& homes, const ClaimState& claim);

/// Whether members announce versions of this phase. A *turned* map is not announced, since claims
/// take both homes already.
[[nodiscard]] constexpr bool is_announced(MapPhase phase) noexcept {
  return phase != MapPhase::turned;
}

/// Whether this claim lets its client announce a version of this phase. While the path moves, a
/// hold must not have the old home without the new one. When the path has moved, an acquire must
/// have neither the old home's lock nor a place in its queue.
[[nodiscard]] bool lets_announce(MapPhase phase, const std::vector<std::string>& homes,
                                 const ClaimState& claim);

}  // namespace custodian::recipes_detail
