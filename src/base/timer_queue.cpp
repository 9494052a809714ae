#include "base/timer_queue.hpp"

namespace custodian::detail {

TimerQueue::Action TimerQueue::set(Key key, Time time, Action action) {
  Action earlier = cancel(key);
  // The insertions have this order because the second may throw: an action without an entry in
  // `order_` never runs, but an entry without an action would be due for ever.
  by_key_.emplace(key, std::pair{time, std::move(action)});
  order_.emplace(time, key);
  return earlier;
}

TimerQueue::Action TimerQueue::cancel(Key key) {
  auto node = by_key_.extract(key);
  if (node.empty()) return {};
  order_.erase({node.mapped().first, key});
  return std::move(node.mapped().second);
}

std::optional<TimerQueue::Time> TimerQueue::next() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

std::vector<TimerQueue::Entry> TimerQueue::due(Time now) const {
  std::vector<Entry> entries;
  for (const Entry& each : order_) {
    if (each.first > now) break;
    entries.push_back(each);
  }
  return entries;
}

TimerQueue::Action TimerQueue::take(const Entry& entry) {
  return order_.contains(entry) ? cancel(entry.second) : Action{};
}

}  // namespace custodian::detail
