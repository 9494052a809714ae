#pragma once

/// \file
/// What an acquire, or a hold, of a path on a moving map takes and releases next, and when it keeps
/// its client from announcing a version. Pure.

#include <optional>
#include <string>
#include <vector>

#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

enum class ClaimPhase {
  acquiring,  ///< not granted yet
  holding,    ///< granted, and not lost or released
};

/// What a claim has.
struct ClaimState {
  ClaimPhase phase = ClaimPhase::acquiring;
  /// The homes at which it has the lock, all of them held.
  std::vector<std::string> locks{};
  /// The home in whose queue it waits.
  std::optional<std::string> waits_at{};
};

/// What a claim does next.
struct ClaimStep {
  /// The homes whose lock it releases.
  std::vector<std::string> drop{};
  /// The home that it takes, or goes on to wait for; nothing if it has all.
  std::optional<std::string> take{};
};

/// The next step of a claim whose path has these homes: the old one, then the new one. An acquire
/// takes them in this order, and keeps none without those in front. A hold keeps what it has, and
/// takes what it lacks in addition.
[[nodiscard]] ClaimStep next_step(const std::vector<std::string>& homes, const ClaimState& claim);

/// Whether members announce this phase: that a map is turned they need not, since they take both
/// homes already.
[[nodiscard]] constexpr bool is_announced(MapPhase phase) noexcept {
  return phase != MapPhase::turned;
}

/// Whether a client may announce a version of this phase, as far as this claim is concerned: while
/// the path moves, no hold has the old home without the new one; when it has moved, no acquire has
/// the old home's lock, or a place in its queue.
[[nodiscard]] bool lets_announce(MapPhase phase, const std::vector<std::string>& homes,
                                 const ClaimState& claim);

}  // namespace custodian::recipes_detail
