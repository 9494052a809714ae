#pragma once

/// \file
/// Options are the user's settings of a run.

#include <string>
#include <vector>

#include "servers.hpp"
#include "workloads.hpp"

namespace custodian::bench {

struct Options {
  int rounds = 5;
  double seconds = 2;
  double warm_up = 4;
  std::vector<std::string> only{};   ///< names of workloads or series; empty: all
  std::vector<std::string> peers{};  ///< names of contestants besides ours; empty: all
  std::string before{};              ///< the driver of another build of our library; empty: none
  bool ensemble = false;
  std::string directory = "/var/tmp";
  WorkloadSizes sizes{};
  bool scale = false;              ///< measures the series (scale.hpp) instead of the workloads
  std::vector<int> scale_sizes{};  ///< sizes for every series; empty: each series' own
  std::string json{};
  std::string markdown{};
  std::string plot{};
  std::string from{};
  bool list = false;
};

/// The selected workloads, each with the selected contestants. Throws std::invalid_argument if no
/// workload or peer has a given name.
[[nodiscard]] std::vector<Workload> chosen(const Options& options);

}  // namespace custodian::bench
