#pragma once

/// \file
/// judge() judges a run of the scheduler, by its own queries to the database and by the instances'
/// output: whether each result exists once, whether each repeated attempt is explained, and whether
/// two instances led at once without an excuse.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "account.hpp"

namespace custodian::tests::scheduler {

struct Verdict {
  std::vector<std::string> violations{};

  std::int64_t jobs = 0;
  std::int64_t results = 0;
  std::int64_t attempts = 0;
  std::vector<std::string> reattempts{};  ///< a description of each repeated attempt
  std::map<FaultKind, int> reattempts_by_cause{};
  /// The numbers of attempts that were still running when the next leader had begun one.
  std::map<FaultKind, int> overlaps_by_cause{};
  std::map<FaultKind, int> refused_by_cause{};
  /// Times from the fault until the next leader had taken over, sorted.
  std::map<FaultKind, std::vector<Time>> takeovers{};
};

/// Judges the run. Throws sqlite::Error if the database cannot be read.
[[nodiscard]] Verdict judge(const Account& account);

/// Prints the verdict for people; the violations come last.
void print(std::ostream& out, const Verdict& verdict);

}  // namespace custodian::tests::scheduler
