#pragma once

/// \file
/// TimerQueue keeps actions with their times. Pure: the caller passes the time in, and waits.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

/// Holds at most one action for each key.
class TimerQueue {
 public:
  using Time = BootClock::time_point;
  using Key = const void*;
  using Action = std::function<void()>;
  using Entry = std::pair<Time, Key>;

  /// Sets the action of this key. Returns the action that it replaces, if any, for the caller to
  /// destroy.
  Action set(Key key, Time time, Action action);
  /// Removes the action of this key and returns it.
  Action cancel(Key key);

  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// When the first action is due; nothing if there is none.
  [[nodiscard]] std::optional<Time> next() const;
  /// The keys that are due, in order.
  [[nodiscard]] std::vector<Entry> due(Time now) const;
  /// Removes a key and returns its action; null if the key was set anew, or cancelled, meanwhile.
  [[nodiscard]] Action take(const Entry& entry);

 private:
  std::set<Entry> order_;
  std::map<Key, std::pair<Time, Action>> by_key_;
};

}  // namespace custodian::detail
