#pragma once

/// \file
/// A directory for the files of a test.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace custodian::tests {

/// A directory that the destructor removes.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "custodian-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"mkdtemp"};
    path_ = name;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file with this text, and returns its path.
  [[nodiscard]] std::string with(const std::string& name, const std::string& text) const {
    std::ofstream{path_ / name} << text;
    return file(name);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace custodian::tests
