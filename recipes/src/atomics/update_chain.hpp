#pragma once

/// \file
/// UpdateChain applies a row of updates to one value: each goes on from the value that the one
/// before has left, and one write stands for them all. Pure.

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

  /// The value that the next update finds. A value between two updates is never on the servers: its
  /// version and its mzxid are 0, so that no compare_exchange takes it for a value of theirs.
  [[nodiscard]] const Stored& now() const noexcept { return now_; }
  /// Adds an update: the bytes that it writes; or nothing, if it leaves the value as it is; or the
  /// error with which it fails, which leaves the value as it is, too.
  void add(Result<std::optional<std::string>> next);
  /// Whether any of the updates writes. If so, now().value has the bytes to be written.
  [[nodiscard]] bool writes() const noexcept { return last_write_.has_value(); }

  /// The results, in the order of the updates. `written` has the version, the mzxid and the time of
  /// the write that the servers have applied; its bytes are those of now(). A chain that writes
  /// nothing does not use `written`.
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
