#pragma once

/// \file
/// Journal is a file with all that the processes have said and what was done to them, a line each.
/// It is removed at the end, unless it is to be kept for somebody who looks for a fault's cause.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "moving/lines.hpp"

namespace custodian::tests::moving {

class Journal {
 public:
  Journal() : file_{path_} {}
  ~Journal() {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove(path_, ignored);
  }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Adds a line: the time at which it is read or done, the process, and this.
  void add(const std::string& process, const std::string& text) {
    file_ << now() << ' ' << process << ' ' << text << '\n';
  }
  /// Leaves the file behind. Returns where it is.
  [[nodiscard]] std::string keep() {
    is_kept_ = true;
    file_.flush();
    return path_.string();
  }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("custodian-moving-" + std::to_string(::getpid()) + ".journal");
  std::ofstream file_;
  bool is_kept_ = false;
};

}  // namespace custodian::tests::moving
