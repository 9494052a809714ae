#pragma once

/// \file
/// Instance is a place where an instance of the scheduler runs: its line to the server, and its
/// present process. One that was killed is followed by another, of another name.
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

  /// Starts the program; `arguments` are those that all instances have.
  void start(const std::vector<std::string>& arguments);

  /// Of the process that is there now.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] testing::FaultProxy& line() noexcept { return line_; }
  [[nodiscard]] testing::ChildProcess& process() const noexcept { return *process_; }

  /// What it has said since the last call, whole lines; blocks unless it has said something.
  [[nodiscard]] std::vector<std::string> listen() const { return process_->listen(); }

 private:
  const std::string place_;
  testing::FaultProxy line_;
  int incarnations_ = 0;
  std::string name_;
  std::unique_ptr<testing::ChildProcess> process_;
};

}  // namespace custodian::tests::scheduler
