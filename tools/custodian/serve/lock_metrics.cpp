#include "serve/lock_metrics.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace custodian::cli {
namespace {

constexpr std::array kinds{ListedKind::mutex, ListedKind::read_write, ListedKind::election,
                           ListedKind::semaphore};

struct Sums {
  std::size_t locks = 0;
  std::size_t holders = 0;
  std::size_t waiters = 0;
  std::chrono::duration<double> oldest_wait{0};
};

Sums sums_of(const LockWalk& walk, ListedKind kind) {
  Sums sums;
  for (const ListedLock& lock : walk.listing.locks) {
    if (lock.kind != kind) continue;
    ++sums.locks;
    for (const Inspected& each : lock.contenders) {
      if (each.standing == Standing::holds) ++sums.holders;
      if (each.standing != Standing::waits) continue;
      ++sums.waiters;
      sums.oldest_wait = std::max(sums.oldest_wait,
                                  std::chrono::duration<double>{walk.at - each.participant.since});
    }
  }
  return sums;
}

class Text {
 public:
  void head(std::string_view name, std::string_view help) {
    text_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << " gauge\n";
  }
  template <typename Number>
  void value(std::string_view name, Number number) {
    text_ << name << ' ' << number << '\n';
  }
  template <typename Number>
  void of_kinds(std::string_view name, std::string_view help, const LockWalk& walk,
                Number Sums::*part) {
    head(name, help);
    for (const ListedKind kind : kinds) {
      const auto number = sums_of(walk, kind).*part;
      text_ << name << "{kind=\"" << to_string(kind) << "\"} ";
      if constexpr (std::is_same_v<Number, std::size_t>) {
        text_ << number << '\n';
      } else {
        text_ << number.count() << '\n';
      }
    }
  }
  [[nodiscard]] std::string take() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

}  // namespace

std::string metrics_of(const LockWalk& walk) {
  Text text;
  text.head("custodian_locks_up", "Whether the last walk over the locks has succeeded.");
  text.value("custodian_locks_up", walk.error.empty() ? 1 : 0);
  if (!walk.error.empty()) return text.take();
  text.of_kinds("custodian_locks", "Locks that have contenders.", walk, &Sums::locks);
  text.of_kinds("custodian_locks_holders", "Contenders that hold.", walk, &Sums::holders);
  text.of_kinds("custodian_locks_waiters", "Contenders that wait.", walk, &Sums::waiters);
  text.of_kinds("custodian_locks_oldest_wait_seconds", "The age of the oldest wait.", walk,
                &Sums::oldest_wait);
  text.head("custodian_locks_wait_cycles", "Groups of sessions that wait for each other.");
  text.value("custodian_locks_wait_cycles", walk.cycles.size());
  text.head("custodian_locks_walk_seconds", "How long the walk took.");
  text.value("custodian_locks_walk_seconds", std::chrono::duration<double>{walk.took}.count());
  text.head("custodian_locks_walk_nodes", "Nodes that the walk has listed.");
  text.value("custodian_locks_walk_nodes", walk.listing.nodes);
  return text.take();
}

}  // namespace custodian::cli
