#pragma once

/// \file
/// What is to happen when. Pure: times go in, and nothing is waited for here.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

/// At most one time for each key.
class TimerQueue {
 public:
  using Time = BootClock::time_point;
  using Key = const void*;
  using Action = std::function<void()>;
  using Entry = std::pair<Time, Key>;

  /// Instead of what was to happen by this key, if anything was; that is given back, for its
  /// destruction is its owner's.
  Action set(Key key, Time time, Action action);
  /// Nothing happens by this key any more.
  Action cancel(Key key);

  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// When the first is due; nothing if none is.
  [[nodiscard]] std::optional<Time> next() const;
  /// Those that are due, in their order.
  [[nodiscard]] std::vector<Entry> due(Time now) const;
  /// Removes one and gives what is to happen; null if it was set anew, or cancelled, meanwhile.
  [[nodiscard]] Action take(const Entry& entry);

 private:
  std::set<Entry> order_;
  std::map<Key, std::pair<Time, Action>> by_key_;
};

}  // namespace custodian::detail
