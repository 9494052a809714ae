#pragma once

/// \file
/// judge() judges a run of the scheduler, by its own queries to the database and by the instances'
/// output: does each result exist once, is each further attempt explained, did two lead at once
/// without a reason?

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
  std::vector<std::string> reattempts{};  ///< each in words
  std::map<FaultKind, int> reattempts_by_cause{};
  /// Of attempts that went on when the next leader had begun with one.
  std::map<FaultKind, int> overlaps_by_cause{};
  std::map<FaultKind, int> refused_by_cause{};
  /// From the fault to the moment at which the next leader had taken over; sorted.
  std::map<FaultKind, std::vector<Time>> takeovers{};
};

/// Throws sqlite::Error if the database cannot be read.
[[nodiscard]] Verdict judge(const Account& account);

/// As people read it; the violations last.
void print(std::ostream& out, const Verdict& verdict);

}  // namespace custodian::tests::scheduler
