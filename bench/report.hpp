#pragma once

/// \file
/// Report formats a run for people. Pure.

#include <string>

#include "run_result.hpp"

namespace custodian::bench {

/// The results of a workload: a line for each contestant (medians of the rounds, and the span of
/// them), and one for each of ours against each peer.
[[nodiscard]] std::string to_text(const WorkloadResult& workload);
/// What a cycle is for each contestant.
[[nodiscard]] std::string contestants(const RunResult& run);
/// What a run was measured on, and with which command.
[[nodiscard]] std::string heading(const RunResult& run);
/// The whole run, as a page in Markdown: targets first, then each workload, then what each
/// contestant is.
[[nodiscard]] std::string to_markdown(const RunResult& run);

}  // namespace custodian::bench
