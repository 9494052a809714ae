#pragma once

/// \file
/// SharedPage is the resource that a lock protects in the benchmark: a page of a file that the
/// processes of all contestants map. Only the lock keeps holders apart, so the page notices two
/// simultaneous holders.

#include <cstdint>
#include <string>

namespace custodian::bench {

/// The page has words of 8 bytes in the machine's byte order: the number of holds; the holder
/// inside (0: none); the time of the last release (CLOCK_MONOTONIC, ns).
class SharedPage {
 public:
  /// Maps the file, and creates it if it does not exist. Throws std::system_error.
  explicit SharedPage(const std::string& file);
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage();

  /// Resets the page: no holder inside, and no holds counted.
  void clear();
  [[nodiscard]] std::int64_t count() const { return get(0); }
  [[nodiscard]] std::int64_t last_release() const { return get(2); }

  /// Enters the page. Returns false if another holder is inside. `who` must not be 0.
  [[nodiscard]] bool enter(std::int64_t who);
  /// Counts the hold, and leaves the page. Returns false if another holder has entered meanwhile.
  [[nodiscard]] bool leave(std::int64_t who, std::int64_t now);
  /// Whether a writer is inside; for readers, which do not enter the page.
  [[nodiscard]] bool is_written() const { return get(1) != 0; }

 private:
  [[nodiscard]] std::int64_t get(int word) const;
  void set(int word, std::int64_t value);

  std::int64_t* words_ = nullptr;
};

}  // namespace custodian::bench
