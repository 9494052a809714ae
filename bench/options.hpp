#pragma once

/// \file
/// Options are what the user wants of a run.

#include <string>
#include <vector>

#include "servers.hpp"
#include "workloads.hpp"

namespace custodian::bench {

struct Options {
  int rounds = 5;
  double seconds = 2;
  double warm_up = 4;
  std::vector<std::string> only{};   ///< workloads or series; empty: all
  std::vector<std::string> peers{};  ///< beside ours; empty: all
  std::string before{};              ///< ours of another build, its driver; empty: none
  bool ensemble = false;
  std::string directory = "/var/tmp";
  WorkloadSizes sizes{};
  bool scale = false;              ///< the series (scale.hpp) instead of the workloads
  std::vector<int> scale_sizes{};  ///< of each; empty: each its own
  std::string json{};
  std::string markdown{};
  std::string plot{};
  std::string from{};
  bool list = false;
};

/// The workloads that are wanted, with the contestants that are. Throws std::invalid_argument if
/// there is no workload or peer of a name.
[[nodiscard]] std::vector<Workload> chosen(const Options& options);

}  // namespace custodian::bench
