#include "inspect/lock_search.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "inspect/queue_reading.hpp"

namespace custodian::recipes_detail {
namespace {

ListedKind kind_of(Claim claim) {
  switch (claim) {
    case Claim::mutex: return ListedKind::mutex;
    case Claim::write:
    case Claim::read: return ListedKind::read_write;
    case Claim::leadership: return ListedKind::election;
    case Claim::permit:
    case Claim::turn: return ListedKind::semaphore;
  }
  return ListedKind::mutex;
}

}  // namespace

std::optional<std::string> LockSearch::next() {
  if (to_list_.empty()) return std::nullopt;
  std::string path = std::move(to_list_.front());
  to_list_.pop_front();
  return path;
}

void LockSearch::add(const std::string& path, std::vector<std::string> children) {
  const QueueReading reading = read_queues(std::move(children));
  if (!reading.standpoints.empty() || !reading.malformed.empty()) {
    const auto semaphore = part_of_.find(path);
    locks_.insert(semaphore == part_of_.end() ? path : semaphore->second);
  }
  // Two children of these names may be a semaphore's, or somebody's folders. The permits are listed
  // before the line, as inspect() does.
  const bool may_be_semaphore =
      std::ranges::find(reading.foreign, permits_part) != reading.foreign.end() &&
      std::ranges::find(reading.foreign, line_part) != reading.foreign.end();
  for (const std::string& name : reading.foreign) {
    std::string child = join(path, name);
    if (may_be_semaphore && (name == permits_part || name == line_part))
      part_of_.emplace(child, path);
    to_list_.push_back(std::move(child));
  }
}

std::vector<ListedLock> locks_at(const std::string& path, Inspection inspection) {
  std::vector<ListedLock> locks;
  for (Inspected& each : inspection.contenders) {
    const ListedKind kind = kind_of(each.claim);
    auto lock = std::ranges::find(locks, kind, &ListedLock::kind);
    if (lock == locks.end()) lock = locks.insert(lock, {.path = path, .kind = kind});
    lock->contenders.push_back(std::move(each));
  }
  if (inspection.malformed.empty()) return locks;
  // Which of several recipes a malformed number stops its name does not say.
  if (locks.empty()) locks.push_back({.path = path});
  for (ListedLock& each : locks) each.malformed = inspection.malformed;
  return locks;
}

}  // namespace custodian::recipes_detail
