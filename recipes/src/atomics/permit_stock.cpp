#include "atomics/permit_stock.hpp"

#include <algorithm>

namespace custodian::recipes_detail {

void PermitStock::add(Time first, std::int64_t count, std::chrono::nanoseconds late) {
  // Servers record times in whole milliseconds, and their clocks are adjusted.
  constexpr std::chrono::milliseconds margin{100};
  // If a time is earlier by more than that, the node was created anew, or the clock is another one.
  const bool is_held_back = last_due_ >= first && last_due_ - first <= late_ + margin;
  rows_.push_back({first, count, is_held_back ? last_due_ : Time::min()});
  late_ = is_held_back ? std::max(late_, late) : late;
  count_ += count;
  last_due_ = due_in(rows_.back(), count);
}

std::optional<PermitStock::Time> PermitStock::due(std::int64_t permits) const {
  if (permits > count_) return std::nullopt;
  Time latest = Time::min();
  for (const Row& row : rows_) {
    const std::int64_t some = std::min(permits, row.count);
    latest = std::max(latest, due_in(row, some));
    permits -= some;
    if (permits == 0) break;
  }
  return latest;
}

PermitStock::Taken PermitStock::take(std::int64_t permits) {
  Taken taken{.due = Time::min()};
  while (permits > 0) {
    Row& row = rows_.front();
    const std::int64_t some = std::min(permits, row.count);
    taken.rows.push_back({row.first, some, row.not_before});
    taken.due = std::max(taken.due, due_in(row, some));
    row.first += some * interval_;
    row.not_before += some * interval_;
    row.count -= some;
    if (row.count == 0) rows_.pop_front();
    permits -= some;
    count_ -= some;
  }
  return taken;
}

void PermitStock::give_back(const Taken& taken) {
  rows_.insert(rows_.begin(), taken.rows.begin(), taken.rows.end());
  for (const Row& row : taken.rows) count_ += row.count;
}

}  // namespace custodian::recipes_detail
