#pragma once

/// \file
/// The entry in the node of a rate limiter, and the next entry that a write puts there. Pure.
///
/// Permits are time: at a rate of 10 a second, a permit is worth 100 ms. *Credit* is the time that
/// has passed and was not taken, up to a burst. It is negative if permits were taken that are not
/// due yet.
///
/// The time of a write is known only afterwards, from the servers. So an entry says what its write
/// takes, what the credit was after the write *before*, and when that one was. A reader of the
/// entry, who also knows the time of the entry's own write, can compute the credit since.

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
  std::chrono::nanoseconds credit{0};  ///< the credit after the write before
  std::chrono::milliseconds since{0};  ///< the time of the write before: Unix time
  std::int64_t epoch = 0;              ///< the epoch of the leader of the write before

  friend bool operator==(const RateEntry&, const RateEntry&) = default;
};

/// The entry as four decimal numbers, with a blank between two.
[[nodiscard]] std::string encode(const RateEntry& entry);
/// The entry of a text; nothing if the text is no entry.
[[nodiscard]] std::optional<RateEntry> decode_rate_entry(std::string_view text);

/// The epoch of the leader that has made this transaction: the upper half of the id.
[[nodiscard]] constexpr std::int64_t epoch_of(std::int64_t zxid) noexcept { return zxid >> 32; }

/// The credit at the moment of the entry's write, before its cost. `written` is the node as that
/// write has left it.
[[nodiscard]] std::chrono::nanoseconds credit_at(const RateEntry& entry, const Stored& written,
                                                 std::chrono::nanoseconds burst) noexcept;

/// Whether a permit that is due `behind` after the next one is due within `patience`, with this
/// credit.
[[nodiscard]] constexpr bool is_due_within(std::chrono::nanoseconds patience,
                                           std::chrono::nanoseconds credit,
                                           std::chrono::nanoseconds behind) noexcept {
  return behind - credit <= patience;
}

/// The entry that takes `cost`, as the successor of the node's present data; nothing if these are
/// no entry. A node without data has no credit. A debt is cut off at more than a hundred years.
[[nodiscard]] std::optional<RateEntry> next_entry(const Stored& now, std::chrono::nanoseconds cost,
                                                  std::chrono::nanoseconds burst);

}  // namespace custodian::recipes_detail
