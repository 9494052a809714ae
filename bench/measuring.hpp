#pragma once

/// \file
/// Measuring runs one contestant at one workload: its processes, and the result of a measurement.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "contestants.hpp"
#include "driver/shared_page.hpp"
#include "driver_link.hpp"
#include "driver_result.hpp"
#include "relay.hpp"
#include "servers.hpp"
#include "statistics.hpp"
#include "workloads.hpp"

namespace custodian::bench {

/// Thrown if a lock had two holders at once. The figures are then worthless, and the run ends.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Threads: one. The servers must outlive this object.
class Measuring {
 public:
  /// Starts the contestant's processes, which share the file `page`.
  Measuring(const ContestantEntry& contestant, const Workload& workload, const Servers& servers,
            const std::string& page);

  /// Measures once. Throws Violation, or std::runtime_error if the contestant fails.
  [[nodiscard]] Metrics measure(std::chrono::duration<double> seconds);

 private:
  [[nodiscard]] std::string task(std::chrono::duration<double> seconds) const;
  void ask_all(const std::string& line);
  [[nodiscard]] DriverResult result();
  void check_exclusion(const DriverResult& result) const;
  [[nodiscard]] Metrics run();
  [[nodiscard]] Metrics step_through(const std::string& task);
  /// Waits until all contenders are in the queue. Returns what rest() returns.
  [[nodiscard]] std::map<std::string, std::int64_t> queue_up(const std::string& task);
  [[nodiscard]] std::string release();
  /// Waits until the servers send no more notices. Returns the number of notices to each session so
  /// far.
  [[nodiscard]] std::map<std::string, std::int64_t> rest() const;

  const std::string name_;
  const Workload workload_;
  const Servers* servers_;
  const std::string page_file_;
  SharedPage page_;
  std::optional<Relay> relay_;
  std::vector<std::unique_ptr<DriverLink>> drivers_;
  int measured_ = 0;
};

}  // namespace custodian::bench
