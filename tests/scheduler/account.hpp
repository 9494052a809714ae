#pragma once

/// \file
/// Account is the record of a run of the scheduler, beside the database: the faults of its
/// instances, and their output.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "event.hpp"

namespace custodian::tests::scheduler {

enum class FaultKind {
  killed,   ///< SIGKILL
  cut_off,  ///< its connections to the servers are cut, and no others
  stopped,  ///< SIGSTOP, and SIGCONT when another instance leads
};
inline constexpr std::array all_fault_kinds{FaultKind::killed, FaultKind::cut_off,
                                            FaultKind::stopped};

[[nodiscard]] constexpr std::string_view to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::killed: return "killed";
    case FaultKind::cut_off: return "cut off";
    case FaultKind::stopped: break;
  }
  return "stopped";
}

struct Fault {
  FaultKind kind = FaultKind::killed;
  std::string instance{};  ///< the leader's name
  std::int64_t token = 0;  ///< the token of its leadership
  Time from{0};
  Time to{0};  ///< when the leader has ended, is connected again, or continues
};

struct Account {
  std::string database{};  ///< the database's file
  int jobs = 0;
  std::vector<Event> events{};  ///< those of each instance are in order
  std::vector<Fault> faults{};
};

}  // namespace custodian::tests::scheduler
