#include "inspect/lock_search.hpp"

#include <algorithm>
#include <string_view>
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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a name ends with a number as a server writes it: ten characters, of which the first may
/// be a sign. A folder may be called "lock-7", or "block-store".
bool is_numbered(std::string_view name) {
  constexpr std::size_t width = 10;
  if (name.size() < width) return false;
  const std::string_view number = name.substr(name.size() - width);
  return (is_digit(number[0]) || number[0] == '-') &&
         std::ranges::all_of(number.substr(1), is_digit);
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
  bool is_lock = false;
  const bool has_permits = std::ranges::find(reading.standpoints, Claim::permit,
                                             &Standpoint::claim) != reading.standpoints.end();
  for (const Standpoint& each : reading.standpoints) {
    if (is_numbered(each.name)) {
      is_lock = true;
    } else {
      to_list_.push_back(join(path, each.name));
    }
  }
  for (const std::string& name : reading.malformed) to_list_.push_back(join(path, name));
  if (is_lock) {
    const auto semaphore = part_of_.find(path);
    // A semaphore may have permits without a line beside them.
    const auto lone = lone_permits_.find(path);
    if (semaphore != part_of_.end()) {
      locks_.insert(semaphore->second);
    } else {
      locks_.insert(has_permits && lone != lone_permits_.end() ? lone->second : path);
    }
  }
  // Two children of these names may be a semaphore's, or ordinary folders. The permits are listed
  // before the line, as in inspect().
  const bool may_be_semaphore =
      std::ranges::find(reading.foreign, permits_part) != reading.foreign.end() &&
      std::ranges::find(reading.foreign, line_part) != reading.foreign.end();
  for (const std::string& name : reading.foreign) {
    std::string child = join(path, name);
    if (may_be_semaphore && (name == permits_part || name == line_part)) {
      part_of_.emplace(child, path);
    } else if (name == permits_part) {
      lone_permits_.emplace(child, path);
    }
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
  // The name of a node with a malformed number does not say which of several recipes it stops.
  if (locks.empty()) locks.push_back({.path = path});
  for (ListedLock& each : locks) each.malformed = inspection.malformed;
  return locks;
}

}  // namespace custodian::recipes_detail
