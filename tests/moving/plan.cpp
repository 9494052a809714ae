#include "moving/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace custodian::tests::moving {

namespace {

/// The ensemble of the pin above a path.
std::optional<std::string> pin_of(const EnsembleLayout& layout, const std::string& path) {
  for (const auto& [above, ensemble] : layout.pins) {
    if (path.starts_with(above + "/")) return ensemble;
  }
  return std::nullopt;
}

/// The share of the keys that an ensemble should have.
double share_of(const EnsembleLayout& layout, const std::string& ensemble) {
  double all = 0;
  for (const auto& [name, weight] : layout.ensembles) all += weight;
  const auto found = layout.ensembles.find(ensemble);
  return found == layout.ensembles.end() ? 0 : found->second / all;
}

/// The probability that a path moves that is pinned in neither of the layouts.
double chance_of_key(const EnsembleLayout& from, const EnsembleLayout& to) {
  double chance = from.depth == to.depth ? 0 : 1;
  for (const auto& [name, weight] : from.ensembles) {
    const double before = share_of(from, name);
    const double after = share_of(to, name);
    // If the key changes, the home is drawn anew; with the same key a path moves only away from an
    // ensemble whose share falls.
    chance += from.depth == to.depth ? std::max(0.0, before - after) : -before * after;
  }
  return chance;
}

double chance_of(const EnsembleLayout& from, const EnsembleLayout& to, const std::string& path) {
  const auto before = pin_of(from, path);
  const auto after = pin_of(to, path);
  if (before && after) return *before == *after ? 0 : 1;
  if (before) return 1 - share_of(to, *before);
  if (after) return 1 - share_of(from, *after);
  return chance_of_key(from, to);
}

/// The key of a path: its first components.
std::string key_of(const std::string& path, int depth) {
  std::size_t end = 0;
  for (int component = 0; component < depth && end != path.npos; ++component) {
    end = path.find('/', end + 1);
  }
  return path.substr(0, end);
}

}  // namespace

std::vector<std::string> paths_of(int count) {
  constexpr int in_group = 10;
  std::vector<std::string> paths;
  for (int number = 0; number < count; ++number) {
    paths.push_back("/locks/g" + std::to_string(number / in_group) + "/p" + std::to_string(number));
  }
  return paths;
}

std::string guarded_node(const std::string& path) {
  std::string name = path.substr(std::string{"/locks/"}.size());
  std::ranges::replace(name, '/', '-');
  return "/guarded/" + name;
}

EnsembleLayout layout_of_step(int step) {
  using Pins = std::map<std::string, std::string>;
  const Pins crossed{{"/locks/g1", "west"}, {"/locks/g2", "east"}};
  const EnsembleLayout even{.depth = 3, .ensembles = {{"east", 1}, {"west", 1}}};
  const std::array round{
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 1}, {"west", 3}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"west", 1}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 3}, {"west", 1}}, .pins = crossed},
      EnsembleLayout{.depth = 2, .ensembles = {{"east", 1}, {"west", 1}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 3}, {"west", 1}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 1}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 1}, {"west", 1}}, .pins = crossed},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 1}, {"west", 0}}},
      EnsembleLayout{.depth = 3, .ensembles = {{"east", 1}, {"west", 3}}},
      even,
  };
  return step == 0 ? even : round[static_cast<std::size_t>(step - 1) % round.size()];
}

double ideal_share(const EnsembleLayout& from, const EnsembleLayout& to,
                   const std::vector<std::string>& paths) {
  double sum = 0;
  for (const std::string& path : paths) sum += chance_of(from, to, path);
  return sum / static_cast<double>(paths.size());
}

double slack_of_share(const EnsembleLayout& from, const EnsembleLayout& to,
                      const std::vector<std::string>& paths) {
  std::set<std::string> keys;
  for (const std::string& path : paths) keys.insert(key_of(path, std::min(from.depth, to.depth)));
  constexpr double deviations = 4;
  return deviations * std::sqrt(0.25 / static_cast<double>(keys.size()));
}

}  // namespace custodian::tests::moving
