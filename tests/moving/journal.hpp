#pragma once

/// \file
/// Journal is a file with a line for each report of a process and for each fault. The file is
/// removed at the end, unless keep() was called, for the search of a fault's cause.

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

  /// Adds a line: the present time, the process, and the text.
  void add(const std::string& process, const std::string& text) {
    file_ << now() << ' ' << process << ' ' << text << '\n';
  }
  /// Keeps the file after the end. Returns its path.
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
