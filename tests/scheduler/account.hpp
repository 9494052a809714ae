#pragma once

/// \file
/// Account is the record of a run of the scheduler: the faults of its instances, and their output.
/// The rest is in the database. Value types.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "event.hpp"

namespace custodian::tests::scheduler {

enum class FaultKind {
  killed,   ///< SIGKILL
  cut_off,  ///< its line to the servers, and no other's
  stopped,  ///< SIGSTOP, and SIGCONT when another one leads
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
  std::string instance{};  ///< that led,
  std::int64_t token = 0;  ///< with this token
  Time from{0};
  Time to{0};  ///< it is gone for good, has a line again, or goes on
};

struct Account {
  std::string database{};  ///< the file
  int jobs = 0;
  std::vector<Event> events{};  ///< those of each instance in order
  std::vector<Fault> faults{};
};

}  // namespace custodian::tests::scheduler
