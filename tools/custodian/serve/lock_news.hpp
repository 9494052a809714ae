#pragma once

/// \file
/// LockNews turns walks into events for browsers: everything for a browser that comes, and what has
/// changed for one that is there. Pure: walks in, text out.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/lock_walk.hpp"

namespace custodian::cli {

/// Threads: one at a time.
class LockNews {
 public:
  /// `every`: how long after a walk the next one begins.
  explicit LockNews(std::chrono::milliseconds every) : every_{every} {}

  /// Takes the next walk in. If it has failed, the locks stay as they were.
  void take(std::shared_ptr<const LockWalk> walk);

  /// How many walks were taken in.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  /// The last walk; null before the first.
  [[nodiscard]] const std::shared_ptr<const LockWalk>& last() const noexcept { return last_; }

  /// The event for a browser whose last one was of the version `seen`: what has changed if that was
  /// the one before, otherwise everything. Browsers share it. `browsers`: how many there are.
  [[nodiscard]] std::shared_ptr<const std::string> event_after(std::optional<std::uint64_t> seen,
                                                               std::size_t browsers);

 private:
  struct Entry {
    std::string text{};  ///< the lock, as JSON
    /// A digest of all its contenders, of which the text has some alone.
    std::size_t digest = 0;
    bool is_new = false;
  };
  enum class Scope : std::uint8_t { all, changes };

  [[nodiscard]] std::string event(Scope scope, std::size_t browsers) const;

  std::chrono::milliseconds every_;
  std::uint64_t version_ = 0;
  std::shared_ptr<const LockWalk> last_{};
  std::map<std::string, Entry> entries_{};  ///< by path
  std::vector<std::string> removed_{};      ///< paths that the walk before had
  std::shared_ptr<const std::string> all_{};
  std::shared_ptr<const std::string> changes_{};
};

}  // namespace custodian::cli
