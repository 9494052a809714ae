#pragma once

/// \file
/// LockNews turns walks into events for browsers: all locks for a new browser, and the changes for
/// a browser that has the previous walk. Pure: walks in, text out.

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
  /// `every`: the pause between two walks, which the events state.
  explicit LockNews(std::chrono::milliseconds every) : every_{every} {}

  /// Takes in the result of the next walk. If the walk has failed, the locks stay as they were.
  void take(std::shared_ptr<const LockWalk> walk);

  /// How many walks were taken in.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  /// The last walk; null before the first.
  [[nodiscard]] const std::shared_ptr<const LockWalk>& last() const noexcept { return last_; }

  /// The event for a browser whose last event was of the version `seen`: the changes if that was
  /// the previous version, otherwise all locks. Browsers share the event. `browsers`: the number of
  /// browsers that are connected.
  [[nodiscard]] std::shared_ptr<const std::string> event_after(std::optional<std::uint64_t> seen,
                                                               std::size_t browsers);

 private:
  struct Entry {
    std::string text{};  ///< the lock, as JSON
    /// A digest of all contenders of the lock; the text has only some of them.
    std::size_t digest = 0;
    bool is_new = false;
  };
  enum class Scope : std::uint8_t { all, changes };

  [[nodiscard]] std::string event(Scope scope, std::size_t browsers) const;

  std::chrono::milliseconds every_;
  std::uint64_t version_ = 0;
  std::shared_ptr<const LockWalk> last_{};
  std::map<std::string, Entry> entries_{};  ///< by path
  std::vector<std::string> removed_{};      ///< paths that only the previous walk had
  std::shared_ptr<const std::string> all_{};
  std::shared_ptr<const std::string> changes_{};
};

}  // namespace custodian::cli
