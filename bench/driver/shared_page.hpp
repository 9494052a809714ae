#pragma once

/// \file
/// SharedPage is what a lock protects in the benchmark: a page of a file that all contestants'
/// processes map. Only the lock excludes them from each other, so a lock with two holders is
/// noticed.

#include <cstdint>
#include <string>

namespace custodian::bench {

/// Words of 8 bytes, in the machine's order: the number of holds; the holder inside (0: none); the
/// time of the last release (CLOCK_MONOTONIC, ns).
class SharedPage {
 public:
  /// Maps the file, and makes it if it is not there. Throws std::system_error.
  explicit SharedPage(const std::string& file);
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage();

  /// Resets it: none inside and nothing counted.
  void clear();
  [[nodiscard]] std::int64_t count() const { return get(0); }
  [[nodiscard]] std::int64_t last_release() const { return get(2); }

  /// False if another one is inside. `who` is not 0.
  [[nodiscard]] bool enter(std::int64_t who);
  /// Counts. False if another one has come in.
  [[nodiscard]] bool leave(std::int64_t who, std::int64_t now);
  /// For a reader: whether a writer is inside.
  [[nodiscard]] bool is_written() const { return get(1) != 0; }

 private:
  [[nodiscard]] std::int64_t get(int word) const;
  void set(int word, std::int64_t value);

  std::int64_t* words_ = nullptr;
};

}  // namespace custodian::bench
