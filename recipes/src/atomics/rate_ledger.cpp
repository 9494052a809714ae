#include "atomics/rate_ledger.hpp"

#include <algorithm>
#include <charconv>

namespace custodian::recipes_detail {

namespace {

/// Takes a number off the front of the text, and the blank behind it.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != ' ' || text.size() == 1) return false;
  text.remove_prefix(1);
  return true;
}

/// More than a hundred years. The sum of two lesser times does not overflow.
constexpr std::chrono::nanoseconds most{std::int64_t{1} << 62};

constexpr std::chrono::nanoseconds least = std::chrono::nanoseconds{1} - most;

bool is_sane(std::chrono::nanoseconds time) { return -most < time && time < most; }

}  // namespace

std::string encode(const RateEntry& entry) {
  return std::to_string(entry.cost.count()) + ' ' + std::to_string(entry.credit.count()) + ' ' +
         std::to_string(entry.since.count()) + ' ' + std::to_string(entry.epoch);
}

std::optional<RateEntry> decode_rate_entry(std::string_view text) {
  std::int64_t cost = 0;
  std::int64_t credit = 0;
  std::int64_t since = 0;
  RateEntry entry;
  const bool is_entry = take_number(text, cost) && take_number(text, credit) &&
                        take_number(text, since) && take_number(text, entry.epoch) && text.empty();
  entry.cost = std::chrono::nanoseconds{cost};
  entry.credit = std::chrono::nanoseconds{credit};
  entry.since = std::chrono::milliseconds{since};
  const bool is_usable = is_entry && cost >= 0 && is_sane(entry.cost) && is_sane(entry.credit) &&
                         is_sane(std::chrono::nanoseconds{since});
  return is_usable ? std::optional{entry} : std::nullopt;
}

std::chrono::nanoseconds credit_at(const RateEntry& entry, const Stored& written,
                                   std::chrono::nanoseconds burst) noexcept {
  const auto at = std::chrono::floor<std::chrono::milliseconds>(written.written.time_since_epoch());
  if (epoch_of(written.mzxid) != entry.epoch || at < entry.since) {
    // Differences between the times of one clock, each cut to whole milliseconds, add up to at most
    // one millisecond too many. A new clock ends such a sum, so that millisecond is taken off here.
    return std::min(burst, entry.credit) - std::chrono::milliseconds{1};
  }
  const std::chrono::milliseconds elapsed = at - entry.since;
  // Compared first: an elapsed time below `enough` cannot overflow the sum.
  const auto enough = std::chrono::ceil<std::chrono::milliseconds>(burst - entry.credit);
  return elapsed >= enough ? burst : entry.credit + elapsed;
}

std::optional<RateEntry> next_entry(const Stored& now, std::chrono::nanoseconds cost,
                                    std::chrono::nanoseconds burst) {
  RateEntry next{
      .cost = cost,
      .since = std::chrono::floor<std::chrono::milliseconds>(now.written.time_since_epoch()),
      .epoch = epoch_of(now.mzxid)};
  if (now.value.empty()) return next;
  const std::optional<RateEntry> entry = decode_rate_entry(now.value);
  if (!entry) return std::nullopt;
  // decode_rate_entry() refuses a credit below `least`.
  next.credit = std::max(credit_at(*entry, now, burst) - entry->cost, least);
  return next;
}

}  // namespace custodian::recipes_detail
