#pragma once

/// \file
/// NumberStock holds chunks of unique numbers, and decides when the next chunk is to be fetched.
/// Pure.

#include <cstdint>
#include <deque>
#include <optional>

#include "custodian/atomics/cached_atomic_long.hpp"

namespace custodian::recipes_detail {

class NumberStock {
 public:
  explicit NumberStock(CachedAtomicOptions options) : options_{options} {}

  /// The next number, if there is one.
  [[nodiscard]] std::optional<std::int64_t> take();
  /// Adds a chunk that begins with this number.
  void add(std::int64_t first);
  /// Whether a chunk is to be fetched, if none is under way.
  [[nodiscard]] bool is_low() const noexcept { return left_ <= options_.prefetch_at; }
  [[nodiscard]] std::int64_t chunk() const noexcept { return options_.chunk; }

 private:
  struct Range {
    std::int64_t next;
    std::int64_t left;
  };

  const CachedAtomicOptions options_;
  std::deque<Range> ranges_;
  std::int64_t left_ = 0;
};

}  // namespace custodian::recipes_detail
