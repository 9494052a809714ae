#include "holds.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace custodian::chaos {

Holds::Holds(const History& history) : history_{history} {
  for (const Acquire& acquire : history.acquires) {
    if (!acquire.granted) continue;
    by_lock_[acquire.lock].push_back(&acquire);
    ends_[acquire.lock].try_emplace(acquire.token, end(acquire));
    FirstGrants& grants = first_grants_[acquire.lock][acquire.takes];
    Time& first = grants.try_emplace(acquire.token, never).first->second;
    first = std::min(first, *acquire.granted);
  }
  for (auto& [lock, holds] : by_lock_) {
    std::ranges::sort(holds, {}, [](const Acquire* hold) {
      return std::pair{hold->granted, hold->token};
    });
    for (auto& [takes, grants] : first_grants_[lock]) {
      Time earliest = never;
      for (auto each = grants.rbegin(); each != grants.rend(); ++each) {
        earliest = each->second = std::min(earliest, each->second);
      }
    }
  }
}

Time Holds::end(const Acquire& hold) const {
  Time end = std::min(hold.lost.value_or(never), hold.released.value_or(never));
  const auto kill = history_.kills.find(hold.process);
  return kill == history_.kills.end() ? end : std::min(end, kill->second);
}

Time Holds::first_grant_after(const Acquire& hold, const Token& token) const {
  const auto lock = first_grants_.find(hold.lock);
  if (lock == first_grants_.end()) return never;
  Time first = never;
  for (const auto& [takes, grants] : lock->second) {
    const auto next = grants.upper_bound(token);
    if (hold.takes + takes > hold.of && next != grants.end()) first = std::min(first, next->second);
  }
  return first;
}

const Acquire* Holds::find(const std::string& lock, const Token& token) const {
  const auto holds = by_lock_.find(lock);
  if (holds == by_lock_.end()) return nullptr;
  const auto found = std::ranges::find(holds->second, token, &Acquire::token);
  return found == holds->second.end() ? nullptr : *found;
}

Time Holds::passed_on(const Acquire& hold) const {
  const auto lock = ends_.find(hold.lock);
  if (lock == ends_.end()) return Time{0};
  const auto before = lock->second.lower_bound(hold.token);
  if (before == lock->second.begin()) return Time{0};
  const auto& [token, end] = *std::prev(before);
  return share_node(token, hold.token) ? end : Time{0};
}

bool Holds::was_stopped(const Acquire& hold, Time at) const {
  const Time margin = history_.session_timeout / 10;
  return std::ranges::any_of(history_.stops, [&](const Stop& stop) {
    return stop.process == hold.process && passed_on(hold) <= stop.from && stop.from <= at &&
           (!stop.to || at <= *stop.to + margin);
  });
}

bool Holds::was_taken_away(const Acquire& hold, Time at) const {
  return std::ranges::any_of(history_.faults, [&](const Fault& fault) {
    if (fault.begun > at || passed_on(hold) > fault.over.value_or(never)) return false;
    if (deletes_nodes(fault.kind))
      return fault.lock == hold.lock && share_node(fault.token, hold.token);
    if (fault.kind != FaultKind::session_expired || fault.process != hold.process) return false;
    // The end of a session ends all its holds, not only the fault's target.
    const Acquire* target = find(fault.lock, fault.token);
    return hold.begun <= fault.begun || (target != nullptr && target->session == hold.session);
  });
}

}  // namespace custodian::chaos
