#pragma once

/// \file
/// Examination collects the facts that diagnose() judges.

#include <cstdint>
#include <optional>
#include <string>

#include "custodian/client_options.hpp"
#include "doctor/diagnosis.hpp"

namespace custodian::cli {

/// Whether an examination tries writes, which shows what an ACL permits, and the leader's clock.
enum class WriteTrials : std::uint8_t { all, none };

struct ExaminationRequest {
  /// The path of the locks. If it is empty, only the leader's clock is examined, at the root.
  std::string path{};
  /// The touch interval of the programs that take the locks.
  std::chrono::milliseconds touch_interval{};
  /// The admin servers' port, if the user has given one.
  std::optional<std::uint16_t> admin_port{};
  WriteTrials writes = WriteTrials::all;
};

/// Asks every server, opens sessions, tries the operations of a lock, and leaves nothing behind.
/// The transaction that tries permissions fails at its last operation; another one creates a node
/// and deletes it, to read the time of the creation. Blocks; each question to a server has a limit
/// of five seconds. `options` are those of GlobalOptions. Throws Error if they are wrong.
[[nodiscard]] Facts examine(const ClientOptions& options, const ExaminationRequest& request);

}  // namespace custodian::cli
