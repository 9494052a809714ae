#pragma once

/// \file
/// Renewal decides when files that have changed are read again.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace custodian::detail {

/// The state of a file. It differs once the file has changed, even if another file was renamed into
/// its place, or its time was set back; the state of a directory differs once its list of files has
/// changed. All zero if there is no such file.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::chrono::nanoseconds modified{0};
  std::chrono::nanoseconds changed{0};  ///< changes with its owner and mode, too

  friend bool operator==(const FileState&, const FileState&) = default;
};

/// The states of files, by path.
using FileStates = std::map<std::string, FileState>;

[[nodiscard]] FileStates states_of(const std::vector<std::string>& files);

/// Files that cannot be used are tried again, but not too often, since each new connection asks
/// is_due(). Pure.
class Renewal {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The pause between two tries of the same files.
  static constexpr std::chrono::seconds pause{1};

  /// `in_use` are the files' states just before they were read.
  explicit Renewal(FileStates in_use);

  /// Whether the files, in these states, are to be read now.
  [[nodiscard]] bool is_due(const FileStates& states, Time now) const;
  /// The files that were read in these states are in use.
  void succeeded(FileStates states);
  /// The files that were read in these states cannot be used. Returns whether that is news: the
  /// failure before was of other states, or had another reason.
  [[nodiscard]] bool failed(FileStates states, std::string reason, Time now);

 private:
  struct Failure {
    FileStates states;
    std::string reason;
    Time time;
  };

  FileStates in_use_;
  std::optional<Failure> failure_{};
};

}  // namespace custodian::detail
