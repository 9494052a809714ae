#include "ensembles/claim_rules.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

ClaimStep next_step(const std::vector<std::string>& homes, const ClaimState& claim) {
  ClaimStep step;
  const auto missing =
      std::ranges::find_if(homes, [&](const std::string& each) { return !has(claim.locks, each); });
  if (missing != homes.end()) step.take = *missing;
  const bool is_hold = claim.phase == ClaimPhase::holding;
  for (const std::string& each : claim.locks) {
    const auto home = std::ranges::find(homes, each);
    // An acquire must not keep the new home's lock and then ask for the old one's: another acquire
    // may have the old one and wait for the new one, and both would wait for ever.
    if (home == homes.end() || (!is_hold && home > missing)) step.drop.push_back(each);
  }
  return step;
}

bool lets_announce(MapPhase phase, const std::vector<std::string>& homes, const ClaimState& claim) {
  if (phase != MapPhase::stable) {
    return claim.phase == ClaimPhase::acquiring || has(claim.locks, homes.back());
  }
  const auto is_elsewhere = [&](const std::string& each) { return !has(homes, each); };
  return std::ranges::none_of(claim.locks, is_elsewhere) &&
         !(claim.waits_at && is_elsewhere(*claim.waits_at));
}

}  // namespace custodian::recipes_detail
