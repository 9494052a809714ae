#pragma once

/// \file
/// UpdateChain is what a row of updates makes of one value: each goes on from what the one before
/// has left, and one write does them all. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atomics/stored.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

class UpdateChain {
 public:
  explicit UpdateChain(Stored found) : now_{std::move(found)} {}

  /// What the next update finds. A value between two updates is of no write: its version and its
  /// mzxid are 0, so that no compare_exchange takes it for a value of the servers.
  [[nodiscard]] const Stored& now() const noexcept { return now_; }
  /// Adds an update: the bytes that it writes, nothing if it leaves the value as it is, or why it
  /// fails, which leaves the value, too.
  void add(Result<std::optional<std::string>> next);
  /// Whether any of the updates writes; the bytes are now().value then.
  [[nodiscard]] bool writes() const noexcept { return last_write_.has_value(); }

  /// The results, in the order of the updates, after the servers have applied the write with this
  /// version, this mzxid and at this time; its bytes are those of now(). A chain that writes
  /// nothing makes no use of it.
  [[nodiscard]] std::vector<Result<StoredUpdate>> results(const Stored& written) const;

 private:
  struct Link {
    error_code error{};
    StoredUpdate done{};
  };

  Stored now_;
  std::vector<Link> links_;
  std::optional<std::size_t> last_write_;
};

}  // namespace custodian::recipes_detail
