#include "ensembles/publish_rules.hpp"

#include <algorithm>
#include <utility>

#include "ensembles/claim_rules.hpp"

namespace custodian::recipes_detail {

namespace {

void add_names(const EnsembleLayout& layout, std::set<std::string>& names) {
  for (const auto& [name, weight] : layout.ensembles) names.insert(name);
}

/// The order in which a version is written. *Moving* is written first at the first ensemble of the
/// old generation, which decides about the next generation. *Stable* is written first at the
/// ensembles that are dropped: a publisher that finds *stable* elsewhere need not ask them again.
std::vector<std::string> in_writing_order(const MapCopy& next, std::vector<std::string> targets) {
  const bool is_stable = phase_of(next.version) == MapPhase::stable;
  const auto& first = next.generation(generation_of(next.version)).ensembles;
  std::ranges::stable_partition(targets, [&](const std::string& each) {
    return is_stable ? !first.contains(each) : first.contains(each);
  });
  return targets;
}

/// Whether an ensemble's copy has a version, or a later one.
bool has_version(const MapCopies& copies, const std::string& ensemble, std::int64_t version) {
  const auto& copy = copies.at(ensemble);
  return copy && copy->version >= version;
}

/// The ensembles whose members are asked before this version is written. Ensembles that are new in
/// it have no members that know the version before. A *turned* version is not announced.
std::vector<std::string> asked_for(const MapCopy& next) {
  const std::int64_t before = next.version - 1;
  if (before < first_map_version || !is_announced(phase_of(before))) return {};
  std::set<std::string> names;
  add_names(next.generation(generation_of(before)), names);
  add_names(next.generation(last_generation_of(before)), names);
  return {names.begin(), names.end()};
}

Publication publication_of(MapCopy next, const MapCopies& copies, std::set<std::string> concerned) {
  std::vector<std::string> targets;
  for (const std::string& each : concerned) {
    if (!has_version(copies, each, next.version)) targets.push_back(each);
  }
  Publication publication{.asked = asked_for(next)};
  publication.targets = in_writing_order(next, std::move(targets));
  publication.next = std::move(next);
  return publication;
}

}  // namespace

const MapCopy* newest_of(const MapCopies& copies) {
  const MapCopy* newest = nullptr;
  for (const auto& [name, copy] : copies) {
    if (copy && (newest == nullptr || copy->version > newest->version)) newest = &*copy;
  }
  return newest;
}

std::set<std::string> concerned_by(const MapCopy& copy) {
  std::set<std::string> names;
  add_names(copy.generation(generation_of(copy.version)), names);
  add_names(copy.generations.back(), names);
  return names;
}

std::variant<MapAtRest, Publication, MapFault> next_publication(
    const MapCopies& copies, const std::optional<EnsembleLayout>& target) {
  const MapCopy* const newest = newest_of(copies);
  if (newest == nullptr) {
    if (!target) return MapAtRest{};
    MapCopy first{.generations = {*target}};
    first.generations.front().version = 1;
    std::set<std::string> all = concerned_by(first);
    return publication_of(std::move(first), copies, std::move(all));
  }
  for (const auto& [name, copy] : copies) {
    if (copy && !continues(*newest, *copy)) {
      return MapFault{"the copy of " + name + " is one of another map"};
    }
  }
  std::set<std::string> concerned = concerned_by(*newest);
  for (const auto& [name, copy] : copies) {
    // The move is over, but a publisher has crashed before it had written that to all dropped
    // ensembles.
    const bool is_stable = phase_of(newest->version) == MapPhase::stable;
    if (is_stable && copy && copy->version == newest->version - 1) concerned.insert(name);
  }
  const bool all_have_it = std::ranges::all_of(concerned, [&](const std::string& each) {
    return has_version(copies, each, newest->version);
  });
  if (!all_have_it) return publication_of(*newest, copies, concerned);
  MapCopy next = *newest;
  ++next.version;
  if (phase_of(newest->version) == MapPhase::stable) {
    if (!target) return MapAtRest{};
    next.generations.push_back(*target);
    next.generations.back().version = last_generation_of(next.version);
  }
  // A version that ends a move is also written at the ensembles that it drops.
  std::set<std::string> written = concerned;
  add_names(next.generations.back(), written);
  return publication_of(std::move(next), copies, std::move(written));
}

bool has_been(const MapCopy& copy, EnsembleLayout layout, std::int64_t first) {
  for (std::int64_t number = first; number <= generation_of(copy.version); ++number) {
    layout.version = number;
    if (copy.generation(number) == layout) return true;
  }
  return false;
}

}  // namespace custodian::recipes_detail
