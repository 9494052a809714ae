#pragma once

/// \file
/// Instance is a place at which processes of the scheduler run, one at a time: it has a proxy to
/// the server, and the present process. When that process is killed, another process with another
/// name takes its place.
///
/// Threads: one at a time.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "event.hpp"

namespace custodian::tests::scheduler {

class Instance {
 public:
  Instance(std::string place, const testing::ServerEndpoint& server);

  /// Starts the program with the arguments common to all instances.
  void start(const std::vector<std::string>& arguments);

  /// The name of the present process.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] testing::FaultProxy& line() noexcept { return line_; }
  [[nodiscard]] testing::ChildProcess& process() const noexcept { return *process_; }

  /// Reads the whole lines that the process has written since the last call. Blocks until there is
  /// output.
  [[nodiscard]] std::vector<std::string> listen() const { return process_->listen(); }

 private:
  const std::string place_;
  testing::FaultProxy line_;
  int incarnations_ = 0;
  std::string name_;
  std::unique_ptr<testing::ChildProcess> process_;
};

}  // namespace custodian::tests::scheduler
