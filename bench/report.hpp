#pragma once

/// \file
/// Report formats the results of a run for people. Pure.

#include <string>

#include "run_result.hpp"

namespace custodian::bench {

/// The results of a workload: a line for each contestant (medians and spans of the rounds), a line
/// for the ratio of ours to each peer, then the targets, the failures, and the absent contestants.
[[nodiscard]] std::string to_text(const WorkloadResult& workload);
/// A description of each contestant's cycle.
[[nodiscard]] std::string contestants(const RunResult& run);
/// The machine, the servers, the date, the command and the rounds of the run.
[[nodiscard]] std::string heading(const RunResult& run);
/// The whole run, as a page in Markdown: the heading, the targets, a section for each series, a
/// section for each workload that is in no series, and the descriptions of the contestants.
[[nodiscard]] std::string to_markdown(const RunResult& run);

}  // namespace custodian::bench
