#include "judge.hpp"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "sqlite.hpp"

using namespace std::chrono_literals;

namespace custodian::tests::scheduler {
namespace {

using sqlite::Connection;
using sqlite::Statement;

/// Times in the output are rounded to microseconds.
constexpr Time rounding{1us};

/// A leadership, as its leader has reported it.
struct Term {
  std::string instance{};
  std::int64_t token = 0;
  Time from{0};
  Time to{0};
};

struct Attempt {
  std::int64_t job = 0;
  std::int64_t number = 0;
  std::string leader{};
  std::int64_t token = 0;
  Time began{0};
  std::optional<Time> ended{};

  [[nodiscard]] std::string in_words() const {
    return "attempt " + std::to_string(number) + " of job " + std::to_string(job) + ", by " +
           leader + " with token " + std::to_string(token);
  }
};

/// Returns whether the fault excuses an attempt that overlaps the next leader's. Nothing excuses an
/// attempt of a leader that was killed.
bool bears_overlap(const Fault* fault, Time next) {
  return fault != nullptr && fault->kind != FaultKind::killed && fault->from <= next;
}

class Judge {
 public:
  explicit Judge(const Account& account) : account_{account}, database_{account.database, 10s} {}

  Verdict verdict() {
    count();
    look_for_rows();
    judge_order();
    judge_reattempts();
    judge_refusals();
    judge_terms();
    judge_attempts();
    judge_takeovers();
    return std::move(verdict_);
  }

 private:
  void blame(const std::string& what) { verdict_.violations.push_back(what); }

  std::int64_t number(const char* query) const {
    Statement rows{database_, query};
    return rows.step() ? rows.integer(0) : 0;
  }

  void count() {
    verdict_.jobs = number("SELECT count(*) FROM jobs");
    verdict_.results = number("SELECT count(*) FROM results");
    verdict_.attempts = number("SELECT count(*) FROM attempts");
    if (verdict_.jobs != account_.jobs)
      blame(std::to_string(verdict_.jobs) + " jobs of " + std::to_string(account_.jobs));
  }

  /// Looks for rows that must not exist. Each query returns the jobs that it finds wrong.
  void look_for_rows() {
    const std::pair<const char*, const char*> rules[] = {
        {"has not one result",
         "SELECT id FROM jobs WHERE (SELECT count(*) FROM results WHERE job = id) <> 1"},
        {"has a result and is none",
         "SELECT job FROM results WHERE job NOT IN (SELECT id FROM jobs)"},
        {"has a wrong result",
         "SELECT job FROM results WHERE CAST(result AS INTEGER) <> job * job"},
        {"has a result of another attempt than the one that ended",
         "SELECT r.job FROM results r WHERE NOT EXISTS (SELECT * FROM attempts a WHERE a.job = "
         "r.job"
         " AND a.number = r.attempt AND a.ended IS NOT NULL)"},
        {"has attempts that are not numbered from 1",
         "SELECT job FROM attempts GROUP BY job HAVING min(number) <> 1 OR max(number) <> "
         "count(*)"},
        {"has not one attempt that ended",
         "SELECT job FROM attempts GROUP BY job HAVING count(ended) <> 1"},
        {"has an attempt after the one that ended",
         "SELECT job FROM attempts a WHERE ended IS NOT NULL AND EXISTS (SELECT * FROM attempts b"
         " WHERE b.job = a.job AND b.number > a.number)"},
    };
    for (const auto& [what, query] : rules) {
      for (Statement rows{database_, query}; rows.step();)
        blame("job " + std::to_string(rows.integer(0)) + " " + what);
    }
  }

  /// Checks that nothing was written with a smaller token after a greater one was seen.
  void judge_order() {
    for (const char* query :
         {"SELECT token, job FROM attempts ORDER BY began",
          "SELECT token, job FROM attempts WHERE ended IS NOT NULL ORDER BY ended"}) {
      std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
      for (Statement rows{database_, query}; rows.step();) {
        if (rows.integer(0) < greatest)
          blame("a stale write about job " + std::to_string(rows.integer(1)) + " has landed");
        greatest = std::max(greatest, rows.integer(0));
      }
    }
  }

  void judge_reattempts() {
    for (const Attempt& attempt : attempts()) {
      if (attempt.ended) continue;
      const Fault* fault = fault_of(attempt.token, attempt.leader);
      const std::string cause = fault != nullptr ? std::string{to_string(fault->kind)} : "no cause";
      const std::string what = attempt.in_words() + ", did not end: " + cause;
      if (fault == nullptr) {
        blame(what);
      } else {
        verdict_.reattempts.push_back(what);
        ++verdict_.reattempts_by_cause[fault->kind];
      }
    }
  }

  void judge_refusals() {
    std::int64_t refused = 0;
    for (Statement rows{database_, "SELECT leader, token FROM refusals"}; rows.step(); ++refused) {
      const Fault* fault = fault_of(rows.integer(1), rows.text(0));
      if (fault == nullptr || fault->kind == FaultKind::killed) {
        blame(rows.text(0) + " was refused with token " + std::to_string(rows.integer(1)) +
              " and had not been stopped or cut off");
      } else {
        ++verdict_.refused_by_cause[fault->kind];
      }
    }
    const auto told = std::ranges::count(account_.events, EventKind::refused, &Event::kind);
    if (told != refused)
      blame(std::to_string(refused) + " writes were refused, and " + std::to_string(told) +
            " leaders say so");
  }

  void judge_terms() {
    std::vector<Term> terms;
    for (auto event = account_.events.begin(); event != account_.events.end(); ++event) {
      if (event->kind != EventKind::took_over) continue;
      const auto end = std::find_if(event + 1, account_.events.end(), [&](const Event& later) {
        return later.instance == event->instance &&
               (later.kind == EventKind::refused || later.kind == EventKind::leads_no_more);
      });
      Term term{event->instance, event->number, event->at, event->at};
      const Fault* fault = fault_of(term.token, term.instance);
      if (end != account_.events.end()) {
        term.to = end->at;
      } else if (fault != nullptr && fault->kind == FaultKind::killed) {
        term.to = fault->to;
      } else {
        blame(term.instance + " leads for ever with token " + std::to_string(term.token));
      }
      terms.push_back(term);
    }
    std::ranges::sort(terms, {}, &Term::from);
    for (std::size_t i = 1; i < terms.size(); ++i) {
      const Term& before = terms[i - 1];
      const Term& after = terms[i];
      const std::string both = after.instance + " took over with token " +
                               std::to_string(after.token) + " after " + before.instance +
                               " with token " + std::to_string(before.token);
      if (after.token <= before.token) blame(both + ", which is not less");
      if (after.from < before.to &&
          !bears_overlap(fault_of(before.token, before.instance), after.from))
        blame(both + " while this one led, who had not been stopped or cut off");
    }
  }

  void judge_attempts() {
    const std::vector<Attempt> all = attempts();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(),
                                     [&](const Attempt& a) { return a.token > all[i].token; });
      const std::optional<Time> end = end_of(all[i]);
      if (!end) blame(all[i].in_words() + ", has no end");
      if (!end || next == all.end() || *end <= next->began) continue;
      const Fault* fault = fault_of(all[i].token, all[i].leader);
      if (bears_overlap(fault, next->began)) {
        ++verdict_.overlaps_by_cause[fault->kind];
      } else {
        blame(all[i].in_words() + ", went on beside " + next->in_words());
      }
    }
  }

  void judge_takeovers() {
    for (const Fault& fault : account_.faults) {
      const auto next = std::ranges::find_if(account_.events, [&](const Event& event) {
        return event.kind == EventKind::took_over && event.number > fault.token;
      });
      if (next == account_.events.end()) {
        blame("nobody took over from " + fault.instance);
      } else {
        verdict_.takeovers[fault.kind].push_back(next->at - fault.from);
      }
    }
    for (auto& [kind, times] : verdict_.takeovers) std::ranges::sort(times);
  }

  [[nodiscard]] const Fault* fault_of(std::int64_t token, const std::string& instance) const {
    const auto found = std::ranges::find_if(account_.faults, [&](const Fault& fault) {
      return fault.token == token && fault.instance == instance;
    });
    return found != account_.faults.end() ? &*found : nullptr;
  }

  /// All attempts, in the order in which they began.
  [[nodiscard]] std::vector<Attempt> attempts() const {
    std::vector<Attempt> all;
    for (Statement rows{database_,
                        "SELECT job, number, leader, token, began, ended FROM attempts"
                        " ORDER BY began"};
         rows.step();) {
      all.push_back({rows.integer(0), rows.integer(1), rows.text(2), rows.integer(3),
                     Time{rows.integer(4)},
                     rows.is_null(5) ? std::nullopt : std::optional{Time{rows.integer(5)}}});
    }
    return all;
  }

  /// The time at which an attempt ended. If the database does not have it, it is the time at which
  /// the leader reported the end, or was dead.
  [[nodiscard]] std::optional<Time> end_of(const Attempt& attempt) const {
    if (attempt.ended) return attempt.ended;
    for (const Event& event : account_.events) {
      if (event.instance != attempt.leader || event.at + rounding < attempt.began) continue;
      if (event.kind == EventKind::refused || event.kind == EventKind::leads_no_more)
        return event.at;
      if (event.kind == EventKind::gave_up && event.number == attempt.job) return event.at;
    }
    const Fault* fault = fault_of(attempt.token, attempt.leader);
    if (fault != nullptr && fault->kind == FaultKind::killed) return fault->to;
    return std::nullopt;
  }

  const Account& account_;
  Connection database_;
  Verdict verdict_;
};

double in_seconds(Time time) { return std::chrono::duration<double>{time}.count(); }

template <typename Value>
Value at_or(const std::map<FaultKind, Value>& values, FaultKind kind) {
  const auto found = values.find(kind);
  return found != values.end() ? found->second : Value{};
}

}  // namespace

Verdict judge(const Account& account) { return Judge{account}.verdict(); }

void print(std::ostream& out, const Verdict& verdict) {
  out << verdict.jobs << " jobs, " << verdict.results << " results, " << verdict.attempts
      << " attempts\n"
      << "  leader      times  re-attempts  overlaps  stale writes refused  takeover, s: median    "
         " "
         "max\n";
  std::vector<Time> all;
  for (const FaultKind kind : all_fault_kinds) {
    const std::vector<Time> times = at_or(verdict.takeovers, kind);
    out << "  " << std::left << std::setw(10) << to_string(kind) << std::right << std::setw(7)
        << times.size() << std::setw(13) << at_or(verdict.reattempts_by_cause, kind)
        << std::setw(10) << at_or(verdict.overlaps_by_cause, kind) << std::setw(22)
        << at_or(verdict.refused_by_cause, kind);
    if (!times.empty()) {
      out << std::fixed << std::setprecision(2) << std::setw(21)
          << in_seconds(times[times.size() / 2]) << std::setw(8) << in_seconds(times.back());
    }
    out << '\n';
  }
  for (const std::string& attempt : verdict.reattempts) out << "  " << attempt << '\n';
  for (const std::string& violation : verdict.violations) out << "VIOLATION: " << violation << '\n';
  out << "  " << verdict.violations.size() << " violations\n";
}

}  // namespace custodian::tests::scheduler
