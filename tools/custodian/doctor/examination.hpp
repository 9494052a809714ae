#pragma once

/// \file
/// Finds out what diagnose() judges.

#include <cstdint>
#include <string>

#include "custodian/client_options.hpp"
#include "doctor/diagnosis.hpp"

namespace custodian::cli {

struct ExaminationRequest {
  /// Where locks are, or will be; empty: the root is looked at, for the clock only.
  std::string path{};
  /// That of the programs whose locks it is about.
  std::chrono::milliseconds touch_interval{};
  std::uint16_t admin_port = 8080;
};

/// Asks every server, opens sessions, and tries what locks do, so that nothing is left of it: what
/// only asks for permission is a transaction that fails by its last operation; one transaction
/// creates a node and deletes it again, for the time that it was created at. Blocks, for half a
/// minute at most. `options` are those of GlobalOptions. Throws Error if they are wrong.
[[nodiscard]] Facts examine(const ClientOptions& options, const ExaminationRequest& request);

}  // namespace custodian::cli
