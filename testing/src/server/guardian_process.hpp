#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::testing {

/// GuardianProcess starts guardian/guardian.cpp: a process that runs one program at a time in its
/// own directory, and ends both when this object, or this process, is gone.
class GuardianProcess {
 public:
  /// Starts the guardian, not the program.
  GuardianProcess(const std::string& guardian, const std::vector<std::string>& command);
  ~GuardianProcess();
  GuardianProcess(const GuardianProcess&) = delete;
  GuardianProcess& operator=(const GuardianProcess&) = delete;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  /// Sends a command and returns its answer. Throws `TestingError` if the guardian is gone or
  /// refuses.
  std::string ask(std::string_view command);

 private:
  void spawn(const std::string& guardian, const std::vector<std::string>& command);
  std::string read_line();
  void close();

  std::mutex mutex_;
  int socket_ = -1;
  std::filesystem::path directory_;
};

}  // namespace custodian::testing
