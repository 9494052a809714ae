#pragma once

/// \file
/// Crowd is a group of processes of two libraries that do the same at once, and record what they
/// held and when.

#include <filesystem>
#include <list>
#include <string>

#include "driver.hpp"
#include "history.hpp"

namespace custodian::tests {

/// Threads: one. There may be only one Crowd at a time on the suite's servers.
class Crowd {
 public:
  /// Starts four processes of each kind, and connects them.
  Crowd(const Peer& one, const Peer& other);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  static constexpr int size = 8;
  [[nodiscard]] static bool is_of_one(const demo::Hold& hold) { return 2 * hold.process <= size; }

  /// Makes each process do the command, with the directory and the process's number as further
  /// arguments. Returns when all are done. Throws if no lock is acquired for long, or if a process
  /// fails.
  void does(const std::string& command);

  /// The path of a file in the directory that the commands are given.
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] demo::Verdict history() const;

 private:
  void wait_for_all();

  /// The directory is below the server's, which is removed however the test ends.
  const std::filesystem::path directory_;
  std::list<Driver> drivers_;
  std::list<Session> sessions_;
};

}  // namespace custodian::tests
