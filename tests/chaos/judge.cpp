#include "judge.hpp"

#include <algorithm>

#include "judge_parts.hpp"

namespace custodian::chaos {
namespace {

/// Spans of time, merged so that no time is counted twice.
class Spans {
 public:
  void add(Time from, Time to) { spans_.emplace_back(from, to); }
  void arrange() {
    std::ranges::sort(spans_);
    std::vector<std::pair<Time, Time>> joined;
    for (const auto& [from, to] : spans_) {
      if (!joined.empty() && from <= joined.back().second) {
        joined.back().second = std::max(joined.back().second, to);
      } else {
        joined.emplace_back(from, to);
      }
    }
    spans_ = std::move(joined);
  }
  /// Returns how much of the time between `from` and `to` lies within the spans.
  [[nodiscard]] Time within(Time from, Time to) const {
    Time sum{0};
    for (const auto& [begin, end] : spans_) {
      const Time common = std::min(to, end) - std::max(from, begin);
      if (common > Time{0}) sum += common;
    }
    return sum;
  }

 private:
  std::vector<std::pair<Time, Time>> spans_;
};

void judge_completeness(const History& history, Verdict& verdict) {
  for (const std::string& line : history.malformed)
    verdict.violations.push_back({Rule::complete, "malformed: " + line});
  if (!history.end) verdict.violations.push_back({Rule::complete, "the run has not ended"});
  for (const char* what : {"nodes", "watches", "waiters"}) {
    const auto left = history.left.find(what);
    if (left == history.left.end()) {
      verdict.violations.push_back({Rule::complete, std::string{"nobody has counted the "} + what});
    } else if (left->second != 0) {
      verdict.violations.push_back(
          {Rule::nothing_left, std::to_string(left->second) + " " + what + " are left"});
    }
  }
}

void judge_usefulness(const History& history, Verdict& verdict) {
  if (verdict.grants == 0)
    verdict.violations.push_back({Rule::proves_something, "nobody was granted a lock"});
  constexpr std::size_t many = 100;
  for (const auto& [lock, statistics] : verdict.locks) {
    if (statistics.lets_in_several && statistics.grants >= many && statistics.most_at_once < 2) {
      verdict.violations.push_back(
          {Rule::proves_something, lock + " lets in several, and had one at a time"});
    }
    if (history.passes.contains(lock) && statistics.grants >= many && statistics.passed_on == 0) {
      verdict.violations.push_back(
          {Rule::proves_something, lock + " may be passed on within a process, and never was"});
    }
  }
  // Stale writes are certain if a holder lost its lock while its process was stopped: the process
  // goes on with its writes when it is resumed.
  const auto stopped = verdict.faults.find(FaultKind::worker_stopped);
  if (stopped == verdict.faults.end() || stopped->second.lost == 0) return;
  if (verdict.writes[WriteKind::guarded].stale_attempted == 0 ||
      verdict.writes[WriteKind::fenced].stale_attempted == 0) {
    verdict.violations.push_back({Rule::proves_something, "no stale write was attempted"});
  }
  if (verdict.writes[WriteKind::bare].stale_landed == 0) {
    verdict.violations.push_back(
        {Rule::proves_something, "no stale write would have landed without the guard"});
  }
}

}  // namespace

std::string_view to_string(Rule rule) noexcept {
  switch (rule) {
    case Rule::complete: return "complete";
    case Rule::one_holder: return "one holder";
    case Rule::tokens_grow: return "tokens grow";
    case Rule::rightly_passed_on: return "rightly passed on";
    case Rule::no_stale_write: return "no stale write";
    case Rule::no_endless_wait: return "no endless wait";
    case Rule::no_failed_acquire: return "no failed acquire";
    case Rule::notice_before_reuse: return "notice before reuse";
    case Rule::no_false_alarm: return "no false alarm";
    case Rule::nothing_left: return "nothing left";
    case Rule::proves_something: return "proves something";
  }
  return "unknown";
}

void judge_acquires(const History& history, Verdict& verdict) {
  Spans faults;
  for (const Fault& fault : history.faults) {
    if (fault.kind != FaultKind::calm) faults.add(fault.begun, fault.over.value_or(never));
  }
  std::map<std::string, Spans> disturbed;
  for (const Acquire& acquire : history.acquires) disturbed.try_emplace(acquire.process, faults);
  for (const Stop& stop : history.stops)
    disturbed[stop.process].add(stop.from, stop.to.value_or(never));
  for (auto& [process, spans] : disturbed) spans.arrange();

  Time first = never;
  for (const Acquire& acquire : history.acquires) {
    ++verdict.acquires;
    if (acquire.granted) ++verdict.grants;
    first = std::min(first, acquire.begun);
    const auto kill = history.kills.find(acquire.process);
    const auto end = acquire.granted ? acquire.granted : acquire.ended;
    if (!end && kill == history.kills.end()) {
      verdict.violations.push_back({Rule::no_endless_wait, describe(acquire) + " has not ended"});
      continue;
    }
    const Time until = end ? *end : kill->second;
    const Time undisturbed =
        until - acquire.begun - disturbed[acquire.process].within(acquire.begun, until);
    if (undisturbed > history.patience) {
      verdict.violations.push_back(
          {Rule::no_endless_wait,
           describe(acquire) + " has waited for " +
               std::to_string(
                   std::chrono::duration_cast<std::chrono::milliseconds>(undisturbed).count()) +
               " ms without a fault"});
    }
    if (acquire.granted)
      verdict.longest_wait = std::max(verdict.longest_wait, until - acquire.begun);

    const bool may_be_deleted = std::ranges::any_of(history.faults, [&](const Fault& fault) {
      return deletes_nodes(fault.kind) && fault.begun <= until &&
             fault.over.value_or(never) >= acquire.begun;
    });
    if (acquire.how.starts_with("failed:") || (acquire.how == "deleted" && !may_be_deleted)) {
      verdict.violations.push_back(
          {Rule::no_failed_acquire, describe(acquire) + " has ended: " + acquire.how});
    }
  }
  if (history.end && first != never) verdict.length = *history.end - first;
}

Verdict judge(const History& history) {
  Verdict verdict;
  const Holds holds{history};
  judge_completeness(history, verdict);
  judge_acquires(history, verdict);
  judge_order(history, holds, verdict);
  judge_passing_on(history, holds, verdict);
  judge_faults(history, holds, verdict);
  judge_losses(history, verdict);
  judge_writes(history, holds, verdict);
  judge_usefulness(history, verdict);
  return verdict;
}

}  // namespace custodian::chaos
