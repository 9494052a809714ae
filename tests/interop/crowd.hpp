#pragma once

/// \file
/// Crowd is processes of two kinds that do one thing at once, and write down what they held and
/// when.

#include <filesystem>
#include <list>
#include <string>

#include "driver.hpp"
#include "history.hpp"

namespace custodian::tests {

/// Threads: one. One at a time on the suite's servers.
class Crowd {
 public:
  /// Four of each, connected.
  Crowd(const Peer& one, const Peer& other);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  static constexpr int size = 8;
  [[nodiscard]] static bool is_of_one(const demo::Hold& hold) { return 2 * hold.process <= size; }

  /// Each does the command, which is given the directory and the process's number besides. Returns
  /// when all are done. Throws if nothing more is held for long, or if one of them fails.
  void does(const std::string& command);

  /// In the directory that the commands are given.
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] demo::Verdict history() const;

 private:
  void wait_for_all();

  /// Below the server's, which goes however the test ends.
  const std::filesystem::path directory_;
  std::list<Driver> drivers_;
  std::list<Session> sessions_;
};

}  // namespace custodian::tests
