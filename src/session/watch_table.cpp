#include "session/watch_table.hpp"

#include <algorithm>
#include <iterator>

namespace custodian::detail {

WatchTable::Key WatchTable::request_sent(const std::string& path, WatchKind kind,
                                         const std::shared_ptr<Watcher>& watcher) {
  const auto [position, is_new] = by_path_.try_emplace({path, kind}, next_);
  const Key key = position->second;
  if (is_new) {
    ++next_;
    entries_[key].what = &position->first;
  }
  Entry& entry = entries_.at(key);
  ++entry.requests;
  entry.requested.push_back(watcher);
  by_watcher_.emplace(watcher.get(), key);
  return key;
}

void WatchTable::reply_received(Key key, const std::shared_ptr<Watcher>& watcher, bool armed) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;  // cleared meanwhile
  Entry& entry = found->second;
  --entry.requests;
  if (armed) set_armed(entry, true);
  const auto wanted = std::find(entry.requested.begin(), entry.requested.end(), watcher);
  if (wanted != entry.requested.end()) {
    if (armed) {
      entry.waiting.push_back(watcher);
    } else {
      by_watcher_.erase(watcher.get());
    }
    entry.requested.erase(wanted);
    if (entry.requested.empty()) entry.requested = std::vector<std::shared_ptr<Watcher>>{};
  }
  settle(key);
}

std::vector<std::shared_ptr<Watcher>> WatchTable::fire(const std::string& path,
                                                       WatchEventType type) {
  if (type == WatchEventType::children_changed) return end(path, WatchKind::children);
  auto watchers = end(path, WatchKind::data);
  if (type == WatchEventType::deleted) {
    auto of_children = end(path, WatchKind::children);
    std::move(of_children.begin(), of_children.end(), std::back_inserter(watchers));
  }
  return watchers;
}

std::vector<std::shared_ptr<Watcher>> WatchTable::end(const std::string& path, WatchKind kind) {
  const auto found = by_path_.find({path, kind});
  if (found == by_path_.end()) return {};
  const Key key = found->second;
  Entry& entry = entries_.at(key);
  set_armed(entry, false);
  auto waiting = std::exchange(entry.waiting, {});
  for (const auto& watcher : waiting) by_watcher_.erase(watcher.get());
  settle(key);
  return waiting;
}

std::vector<WatchTable::Dropped> WatchTable::drop_beyond(std::size_t bytes) {
  std::vector<Dropped> dropped;
  const auto drop_some = [&](const auto& may_go) {
    for (auto next = by_path_.begin(); next != by_path_.end() && armed_bytes_ > bytes;) {
      const auto [what, key] = *next++;
      const Entry& entry = entries_.at(key);
      if (entry.armed && may_go(entry)) {
        dropped.push_back({what.first, what.second, end(what.first, what.second)});
      }
    }
  };
  // Watches without a watcher go first: their end goes unnoticed.
  drop_some([](const Entry& entry) { return entry.waiting.empty(); });
  drop_some([](const Entry&) { return true; });
  return dropped;
}

void WatchTable::set_armed(Entry& entry, bool armed) {
  if (std::exchange(entry.armed, armed) == armed) return;
  const std::size_t bytes =
      entry.what->first.size() + 4;  // a string in a request has its length before it
  armed_bytes_ = armed ? armed_bytes_ + bytes : armed_bytes_ - bytes;
}

void WatchTable::cancel(const std::shared_ptr<Watcher>& watcher) {
  const auto found = by_watcher_.find(watcher.get());
  if (found == by_watcher_.end()) return;
  const Key key = found->second;
  by_watcher_.erase(found);
  Entry& entry = entries_.at(key);
  std::erase(entry.waiting, watcher);
  std::erase(entry.requested, watcher);
  settle(key);
}

std::vector<std::shared_ptr<Watcher>> WatchTable::clear() {
  std::vector<std::shared_ptr<Watcher>> all;
  for (auto& [key, entry] : entries_) {
    std::move(entry.waiting.begin(), entry.waiting.end(), std::back_inserter(all));
  }
  entries_.clear();
  by_path_.clear();
  by_watcher_.clear();
  unwanted_.clear();
  armed_bytes_ = 0;
  return all;
}

std::vector<WatchTable::Removal> WatchTable::take_removals() {
  std::vector<Removal> removals;
  for (const Key key : std::exchange(unwanted_, {})) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.unwanted())
      continue;  // wanted again, or listed twice
    found->second.removing = true;
    const auto& [path, kind] = *found->second.what;
    removals.push_back({key, path, kind});
  }
  return removals;
}

void WatchTable::removed(Key key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.removing = false;
  set_armed(found->second, false);
  settle(key);
}

void WatchTable::removal_failed(Key key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.removing = false;
  settle(key);
}

/// Called after each change of an entry. A watch that no watcher waits for is to be removed from
/// the server, and an entry without any use is erased.
void WatchTable::settle(Key key) {
  const Entry& entry = entries_.at(key);
  if (entry.unwanted()) {
    unwanted_.push_back(key);
  } else if (entry.idle()) {
    by_path_.erase(by_path_.find(*entry.what));
    entries_.erase(key);
  }
}

}  // namespace custodian::detail
