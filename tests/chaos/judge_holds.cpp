#include <algorithm>
#include <map>
#include <set>

#include "judge_parts.hpp"

namespace custodian::chaos {
namespace {

std::string in_ms(Time time) {
  return std::to_string(std::chrono::duration<double, std::milli>{time}.count()) + " ms";
}

/// Returns whether the grant of a hold may be recorded after that of a later token. A process that
/// was stopped between the grant and its line in the history records it late. And a process that
/// does not know yet that its node was deleted passes the lock on in good faith.
bool may_be_late(const Holds& holds, const Acquire& hold, const Acquire& later) {
  if (share_node(hold.token, later.token)) return false;
  const Time granted = hold.granted.value_or(never);
  return holds.was_stopped(hold, granted) ||
         (hold.token.grant > 0 && holds.was_taken_away(hold, granted));
}

}  // namespace

std::string describe(const Acquire& acquire) {
  return "worker " + acquire.process + " (" + acquire.lock + ", acquire " +
         std::to_string(acquire.id) + ", token " + to_string(acquire.token) + ")";
}

void judge_order(const History&, const Holds& holds, Verdict& verdict) {
  for (const auto& [lock, in_order] : holds.by_lock()) {
    LockStatistics& statistics = verdict.locks[lock];
    std::vector<const Acquire*> believing;
    std::set<Token> tokens;
    std::map<int, const Acquire*> greatest;  // the hold with the greatest token, by share
    for (const Acquire* hold : in_order) {
      const Time now = hold->granted.value_or(never);
      if (!tokens.insert(hold->token).second) {
        verdict.violations.push_back(
            {Rule::tokens_grow, describe(*hold) + " has a token that was granted before"});
      }
      for (const auto& [takes, other] : greatest) {
        const bool late = hold->token < other->token && may_be_late(holds, *hold, *other);
        if (!Holds::exclude(*hold, *other) || hold->token >= other->token || late) continue;
        verdict.violations.push_back(
            {Rule::tokens_grow, describe(*hold) + " was granted after " + describe(*other)});
      }
      const Acquire*& alike = greatest.try_emplace(hold->takes, hold).first->second;
      if (hold->token > alike->token) alike = hold;

      std::erase_if(believing, [&](const Acquire* each) { return holds.end(*each) <= now; });
      int taken = hold->takes;
      for (const Acquire* other : believing) {
        const Acquire& earlier = other->token < hold->token ? *other : *hold;
        // A process knows its own events, so nothing excuses two holders within one process.
        const bool excused =
            !share_node(hold->token, other->token) &&
            (holds.was_stopped(earlier, now) || holds.was_taken_away(earlier, now));
        if (excused) continue;
        taken += other->takes;
        if (taken <= hold->of) continue;
        const Time end = holds.end(*other);
        verdict.violations.push_back(
            {Rule::one_holder,
             describe(*hold) + " was granted " +
                 (end == never ? "and " : in_ms(end - now) + " before ") + describe(*other) +
                 (end == never ? " never stopped to believe" : " stopped to believe")});
        break;
      }
      believing.push_back(hold);
      ++statistics.grants;
      statistics.lets_in_several = statistics.lets_in_several || hold->takes < hold->of;
      if (hold->lost) ++statistics.losses;
      statistics.most_at_once = std::max(statistics.most_at_once, believing.size());
    }
  }
}

void judge_faults(const History& history, const Holds& holds, Verdict& verdict) {
  for (const Fault& fault : history.faults) {
    FaultStatistics& statistics = verdict.faults[fault.kind];
    ++statistics.faults;
    if (!fault.over) {
      verdict.violations.push_back({Rule::complete, "fault " + std::to_string(fault.number) + " (" +
                                                        std::string{to_string(fault.kind)} +
                                                        ") was never over"});
    }
    if (fault.lock.empty()) continue;
    const Acquire* hold = holds.find(fault.lock, fault.token);
    if (hold == nullptr) {
      // A fault may also be aimed at the node of a waiter, which is no hold.
      if (cuts_holder_off(fault.kind)) {
        verdict.violations.push_back({Rule::complete, "fault " + std::to_string(fault.number) +
                                                          " is aimed at a hold of " + fault.lock +
                                                          " that nobody has had"});
      }
      continue;
    }
    if (!hold->lost) {
      // A killed process neither keeps its hold nor is notified.
      if (fault.kind != FaultKind::worker_killed) ++statistics.kept;
      continue;
    }
    ++statistics.lost;
    const Time next = holds.next_grant(*hold);
    if (next == never) continue;
    statistics.head_starts.push_back(next - *hold->lost);
    if (cuts_holder_off(fault.kind) && next <= *hold->lost) {
      verdict.violations.push_back(
          {Rule::notice_before_reuse, std::string{to_string(fault.kind)} + " " +
                                          std::to_string(fault.number) + ": " + describe(*hold) +
                                          " was told " + in_ms(*hold->lost - next) +
                                          " after the next grant"});
    }
  }
  for (auto& [kind, statistics] : verdict.faults) std::ranges::sort(statistics.head_starts);
}

void judge_losses(const History& history, Verdict& verdict) {
  for (const Acquire& hold : history.acquires) {
    if (!hold.lost) continue;
    ++verdict.losses;
    // A process that was killed could not report the reason.
    ++verdict.losses_by_reason[hold.reason.empty() ? "unknown" : hold.reason];
    const bool concerned = std::ranges::any_of(history.faults, [&](const Fault& fault) {
      if (fault.kind == FaultKind::calm || fault.begun > *hold.lost) return false;
      // The deletion of a node concerns its owner, even after the fault is over: a waiter is
      // notified only when its turn has come.
      if (deletes_nodes(fault.kind) && fault.lock == hold.lock &&
          share_node(fault.token, hold.token)) {
        return true;
      }
      if (fault.over && *fault.over < *hold.lost) return false;
      return fault.process.empty() || fault.process == hold.process;
    });
    if (concerned) continue;
    verdict.violations.push_back(
        {Rule::no_false_alarm,
         describe(hold) + " was told of a loss (" + hold.reason + "), and no fault concerned it"});
  }
}

}  // namespace custodian::chaos
