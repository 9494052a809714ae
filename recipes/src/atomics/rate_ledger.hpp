#pragma once

/// \file
/// What the node of a rate limiter says, and what a write to it takes. Pure.
///
/// Permits are time: a permit of a rate of 10 a second is worth 100 ms. *Credit* is the time that
/// has passed and was not taken, up to a burst; less than nothing where permits were taken that are
/// not due yet.
///
/// The time of a write is known only afterwards, from the servers. So an entry says what it takes,
/// what the credit was after the write *before*, and when that was: who reads the entry, with the
/// time of the entry's own write, knows the credit since.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atomics/stored.hpp"

namespace custodian::recipes_detail {

/// The data of the node.
struct RateEntry {
  std::chrono::nanoseconds cost{0};    ///< what its write takes
  std::chrono::nanoseconds credit{0};  ///< after the write before
  std::chrono::milliseconds since{0};  ///< the time of the write before: Unix time
  std::int64_t epoch = 0;              ///< the leader of the write before

  friend bool operator==(const RateEntry&, const RateEntry&) = default;
};

/// As four decimal numbers, each but the last followed by a blank.
[[nodiscard]] std::string encode(const RateEntry& entry);
/// Nothing if the text is no entry.
[[nodiscard]] std::optional<RateEntry> decode_rate_entry(std::string_view text);

/// A leader's transactions have its epoch in the upper half of their ids.
[[nodiscard]] constexpr std::int64_t epoch_of(std::int64_t zxid) noexcept { return zxid >> 32; }

/// The credit at the moment of the entry's write, before its cost. `written` is that write.
[[nodiscard]] std::chrono::nanoseconds credit_at(const RateEntry& entry, const Stored& written,
                                                 std::chrono::nanoseconds burst) noexcept;

/// Whether a permit that is due `behind` after the next one is due within `patience`, where this is
/// the credit.
[[nodiscard]] constexpr bool is_due_within(std::chrono::nanoseconds patience,
                                           std::chrono::nanoseconds credit,
                                           std::chrono::nanoseconds behind) noexcept {
  return behind - credit <= patience;
}

/// The entry that takes `cost`, behind what the node has now; nothing if that is no entry. A node
/// without data has no credit. More than a hundred years of debt are cut off.
[[nodiscard]] std::optional<RateEntry> next_entry(const Stored& now, std::chrono::nanoseconds cost,
                                                  std::chrono::nanoseconds burst);

}  // namespace custodian::recipes_detail
