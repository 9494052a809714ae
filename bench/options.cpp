#include "options.hpp"

#include <algorithm>
#include <stdexcept>

#include "scale.hpp"

namespace custodian::bench {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns whether the name is the workload's own or that of its series.
bool is(const Workload& workload, const std::string& name) {
  return workload.name == name || (!workload.series.empty() && workload.series == name);
}

}  // namespace

std::vector<Workload> chosen(const Options& options) {
  std::vector<Workload> all =
      options.scale ? scale_workloads(options.scale_sizes) : all_workloads(options.sizes);
  for (const std::string& name : options.only) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return is(one, name); }))
      throw std::invalid_argument{name + ": no such workload; --list tells which there are"};
  }
  const std::vector<ContestantEntry> entries = all_contestants();
  for (const std::string& name : options.peers) {
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const auto& one) { return one.name == name; }))
      throw std::invalid_argument{name + ": no such peer; --list tells which there are"};
  }
  if (!options.only.empty())
    std::erase_if(all, [&](const Workload& one) {
      return std::none_of(options.only.begin(), options.only.end(),
                          [&](const std::string& name) { return is(one, name); });
    });
  for (Workload& workload : all) {
    if (!options.peers.empty())
      std::erase_if(workload.contestants, [&](const std::string& name) {
        return name != our_name && !contains(options.peers, name);
      });
    if (!options.before.empty()) workload.contestants.push_back(our_name_before);
  }
  return all;
}

}  // namespace custodian::bench
