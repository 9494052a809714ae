#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace custodian::chaos {
namespace {

std::string in_ms(Time time) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(0)
       << std::chrono::duration<double, std::milli>{time}.count();
  return text.str();
}

void print_faults(std::ostream& out, const Verdict& verdict) {
  out << std::left << std::setw(26) << "fault" << std::right << std::setw(7) << "times"
      << std::setw(7) << "lost" << std::setw(7) << "kept" << std::setw(22) << "head start, ms: min"
      << std::setw(9) << "median" << '\n';
  for (const auto& [kind, statistics] : verdict.faults) {
    out << std::left << std::setw(26) << to_string(kind) << std::right << std::setw(7)
        << statistics.faults << std::setw(7) << statistics.lost << std::setw(7) << statistics.kept;
    const auto& starts = statistics.head_starts;
    if (!starts.empty()) {
      out << std::setw(22) << in_ms(starts.front()) << std::setw(9)
          << in_ms(starts[starts.size() / 2]);
    }
    out << (cuts_holder_off(kind) ? "" : "   (not promised)") << '\n';
  }
}

void print_writes(std::ostream& out, const Verdict& verdict) {
  out << '\n'
      << std::left << std::setw(26) << "writes" << std::right << std::setw(10) << "attempted"
      << std::setw(9) << "landed" << std::setw(18) << "stale attempted" << std::setw(14)
      << "stale landed" << '\n';
  for (const auto& [kind, statistics] : verdict.writes) {
    const char* name = kind == WriteKind::guarded  ? "guarded by check()"
                       : kind == WriteKind::fenced ? "fenced by token()"
                                                   : "without a guard";
    out << std::left << std::setw(26) << name << std::right << std::setw(10) << statistics.attempted
        << std::setw(9) << statistics.landed << std::setw(18) << statistics.stale_attempted
        << std::setw(14) << statistics.stale_landed << '\n';
  }
}

void print_locks(std::ostream& out, const Verdict& verdict) {
  out << '\n'
      << std::left << std::setw(26) << "lock" << std::right << std::setw(10) << "granted"
      << std::setw(11) << "passed on" << std::setw(9) << "lost" << std::setw(23)
      << "most holders at once" << '\n';
  for (const auto& [lock, statistics] : verdict.locks) {
    out << std::left << std::setw(26) << lock << std::right << std::setw(10) << statistics.grants
        << std::setw(11) << statistics.passed_on << std::setw(9) << statistics.losses
        << std::setw(23) << statistics.most_at_once << '\n';
  }
}

}  // namespace

void print(std::ostream& out, const History& history, const Verdict& verdict) {
  print_faults(out, verdict);
  print_writes(out, verdict);
  print_locks(out, verdict);

  const double minutes = std::chrono::duration<double, std::ratio<60>>{verdict.length}.count();
  out << "\nseed " << history.seed << ", session timeout " << history.session_timeout.count()
      << " ms: " << std::fixed << std::setprecision(1) << minutes << " minutes, "
      << history.faults.size() << " faults\n"
      << verdict.acquires << " acquires begun, " << verdict.grants << " granted ("
      << std::setprecision(0) << (minutes > 0 ? static_cast<double>(verdict.grants) / minutes : 0)
      << " a minute), the longest wait " << in_ms(verdict.longest_wait) << " ms\n"
      << verdict.losses << " losses";
  const char* separator = ": ";
  for (const auto& [reason, count] : verdict.losses_by_reason) {
    out << separator << count << " " << reason;
    separator = ", ";
  }
  out << '\n';

  constexpr std::size_t shown = 20;
  const std::size_t count = verdict.violations.size();
  for (std::size_t i = 0; i < std::min(shown, count); ++i) {
    out << "violation of \"" << to_string(verdict.violations[i].rule)
        << "\": " << verdict.violations[i].what << '\n';
  }
  if (count > shown) out << "and " << count - shown << " more\n";
  out << count << " violations\n";
}

}  // namespace custodian::chaos
