#pragma once

/// \file
/// DriverResult is a driver's answer to `result`; answers of several processes can be added. Pure.

#include <cstdint>
#include <string>

#include "statistics.hpp"

namespace custodian::bench {

struct DriverResult {
  std::int64_t cycles = 0;
  std::int64_t writes = 0;
  std::int64_t violations = 0;
  double seconds = 0;
  Histogram acquire;
  Histogram handover;
  /// Results of the work `waiters`.
  double queue_seconds = 0;
  double drain_seconds = 0;
  bool in_order = true;
  std::int64_t memory_bytes = 0;
  std::int64_t peak_bytes = 0;
  /// Results of the additional locks; their memory is in `memory_bytes`.
  int locks = 0;
  double hold_seconds = 0;
  double let_go_seconds = 0;

  /// Adds the result of a process that ran at the same time in the same measurement.
  void add(const DriverResult& other);
};

/// Parses a driver's answer. Throws nlohmann::json::exception if the line is no result.
[[nodiscard]] DriverResult parse_result(const std::string& line);

/// The cycles and the times as metrics. Figures that a driver cannot know are not among them.
[[nodiscard]] Metrics to_metrics(const DriverResult& result);

}  // namespace custodian::bench
