#pragma once

/// \file
/// Examination collects the facts that diagnose() judges.

#include <cstdint>
#include <string>

#include "custodian/client_options.hpp"
#include "doctor/diagnosis.hpp"

namespace custodian::cli {

struct ExaminationRequest {
  /// Where locks are, or will be; empty: the root is looked at, for the clock only.
  std::string path{};
  /// The touch interval of the programs that take the locks.
  std::chrono::milliseconds touch_interval{};
  std::uint16_t admin_port = 8080;
};

/// Asks every server, opens sessions, and tries what locks do, and leaves nothing behind:
/// permissions are tried by a transaction that fails by its last operation; one transaction creates
/// a node and deletes it again, to read the time of its creation. Blocks, for half a minute at
/// most. `options` are those of GlobalOptions. Throws Error if they are wrong.
[[nodiscard]] Facts examine(const ClientOptions& options, const ExaminationRequest& request);

}  // namespace custodian::cli
