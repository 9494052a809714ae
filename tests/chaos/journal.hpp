#pragma once

/// \file
/// Journal writes the history of one process; history.hpp describes its lines.
///
/// Threads: any. Each line is one write(2), so that lines do not mix and a SIGKILL loses none.

#include <filesystem>
#include <string_view>

#include "custodian/session/session.hpp"

namespace custodian::chaos {

class Journal {
 public:
  /// Creates the file, which must not exist yet. Throws std::system_error.
  explicit Journal(const std::filesystem::path& file);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Writes a line. Throws std::system_error if that fails.
  void note(std::string_view what) const { note(BootClock::now(), what); }
  void note(BootClock::time_point at, std::string_view what) const;

 private:
  int descriptor_;
};

}  // namespace custodian::chaos
