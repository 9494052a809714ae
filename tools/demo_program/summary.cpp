/// \file
/// The summary states each claim with its count. The counts come from the files that the workers
/// have written, and from the statistics of the demo's own server.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include "demo.hpp"
#include "history.hpp"

namespace custodian::demo {
namespace {

class Summary {
 public:
  explicit Summary(bool colours) : colours_{colours} {}

  void row(bool right, std::string_view what, std::string_view found) {
    const std::string_view verdict = right ? "ok" : "WRONG";
    const std::string_view colour = !colours_ ? "" : right ? "\x1b[32m" : "\x1b[1;31m";
    std::cout << colour << std::left << std::setw(6) << verdict << (colours_ ? "\x1b[0m" : "");
    rest_of_row(what, found);
    all_right_ = all_right_ && right;
  }
  void note(std::string_view what, std::string_view found) {
    std::cout << std::left << std::setw(6) << "-";
    rest_of_row(what, found);
  }
  /// Adds a line to the last row.
  void more(std::string_view found) {
    std::cout << std::setw(6) << "";
    rest_of_row("", found);
  }

  [[nodiscard]] bool all_right() const noexcept { return all_right_; }

 private:
  /// Prints within 79 columns, and breaks lines between words.
  static void rest_of_row(std::string_view what, std::string_view found) {
    constexpr std::size_t room = 79 - 22;
    std::cout << std::left << std::setw(16) << what;
    while (found.size() > room) {
      const std::size_t space = found.rfind(' ', room);
      if (space == found.npos) break;
      std::cout << found.substr(0, space) << '\n' << std::string(22, ' ');
      found.remove_prefix(space + 1);
    }
    std::cout << found << '\n';
  }

  bool colours_;
  bool all_right_ = true;
};

std::string seconds(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value << " s";
  return text.str();
}

double seconds_of(BootClock::duration duration) {
  return std::chrono::duration<double>{duration}.count();
}

/// The waits that the workers recorded, as lines "process increment node".
struct Waits {
  long all = 0;
  long nodes = 0;     ///< nodes that some acquire waited for
  long acquires = 0;  ///< acquires that waited at least once
};

Waits read_waits(const std::string& file) {
  Waits waits;
  std::set<std::string> nodes;
  std::set<std::pair<int, int>> acquires;
  std::ifstream lines{file};
  std::pair<int, int> acquire;
  for (std::string node; lines >> acquire.first >> acquire.second >> node;) {
    ++waits.all;
    nodes.insert(std::move(node));
    acquires.insert(acquire);
  }
  waits.nodes = static_cast<long>(nodes.size());
  waits.acquires = static_cast<long>(acquires.size());
  return waits;
}

}  // namespace

long Demo::fired_watches() const {
  // This is the number of watches that deletions of nodes have fired. mntr's "cnt" of the same name
  // counts the deletions instead.
  return static_cast<long>(server_->statistic("zk_sum_node_deleted_watch_count"));
}

std::chrono::milliseconds Demo::tick() const {
  if (server_) return settings_.tick;
  try {
    std::istringstream lines{testing::four_letter_word(
        testing::parse_endpoints(settings_.servers.substr(0, settings_.servers.find('/'))).front(),
        "conf")};
    constexpr std::string_view name = "tickTime=";
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name)) {
        return std::chrono::milliseconds{std::stol(line.substr(name.size()))};
      }
    }
  } catch (const std::exception&) {
    // The server may not allow "conf"; ZooKeeper's default tick is good enough.
  }
  return std::chrono::milliseconds{2000};
}

bool Demo::summarise() {
  std::ifstream history{file("history")};
  const Verdict verdict = judge(history);
  const auto grants = static_cast<long>(verdict.holds.size());
  Summary summary{display_.colours()};
  std::cout << '\n';

  const long planned = static_cast<long>(settings_.workers) * settings_.increments;
  const long undone = kill_ ? settings_.increments - kill_->increments_done : 0;
  const long expected = planned - undone;
  long counter = -1;
  std::ifstream{file("counter")} >> counter;
  summary.row(counter == expected && grants == expected, "increments",
              std::to_string(expected) + " expected, " + std::to_string(counter) +
                  " found in the file, " + std::to_string(grants) + " in the history");
  if (kill_) {
    summary.more("(" + std::to_string(settings_.workers) + " x " +
                 std::to_string(settings_.increments) + " = " + std::to_string(planned) +
                 ", less " + std::to_string(undone) + " of worker " +
                 std::to_string(kill_->worker) + ": the one it was killed in, and " +
                 std::to_string(undone - 1) + " that it never began)");
  }
  summary.row(
      verdict.malformed == 0 && verdict.disorders == 0, "order",
      std::to_string(grants) + " grants, " +
          (verdict.disorders == 0 ? "in the order of the queue; tokens grow from each to the next"
                                  : std::to_string(verdict.disorders) + " out of order"));
  summary.row(
      verdict.overlaps == 0, "overlaps",
      std::to_string(verdict.overlaps) + " (two processes in the lock at once, by the boot clock)");
  for (const std::string& fault : verdict.faults) summary.more(fault);

  const Waits waits = read_waits(file("waits"));
  if (server_) {
    const long fired = fired_watches() - fired_before_;
    const long releases = grants + (kill_ ? 1 : 0);
    // `own` is the number of watches that contenders had on their own nodes. A contender that was
    // not first at once has such a watch, and fires it when it releases; a killed contender fires
    // none. Some of these contenders have not waited: they found the predecessor gone before they
    // could watch it. So `own` has only bounds.
    const long own = fired - waits.all;
    const long own_at_least = waits.acquires - (kill_ ? 1 : 0);
    summary.row(waits.all == waits.nodes && own >= own_at_least && own <= grants, "woken",
                std::to_string(waits.all) + " waiters, by " + std::to_string(waits.nodes) +
                    " releases that a waiter was watching");
    summary.more("(the server's own count: " + std::to_string(fired) +
                 " watches fired, the other " + std::to_string(own) +
                 " on nodes of their own: expected are " + std::to_string(own_at_least) + " to " +
                 std::to_string(grants) + ")");
    summary.more("(of " + std::to_string(releases) + " releases in all; at the other " +
                 std::to_string(releases - waits.nodes) +
                 " the queue was empty, or the next had only just come)");
  } else {
    summary.row(waits.all == waits.nodes, "woken",
                std::to_string(waits.all) + " waiters, by " + std::to_string(waits.nodes) +
                    " releases that a waiter was watching (by the waiters' own account)");
  }

  if (kill_) {
    const auto successor = std::ranges::find_if(verdict.holds, [at = kill_->at](const Hold& hold) {
      return hold.in > at.time_since_epoch().count();
    });
    const auto limit = kill_->session_timeout + 2 * tick();
    if (successor == verdict.holds.end()) {
      summary.row(false, "take-over", "nobody held the lock after the kill");
    } else {
      const auto took = std::chrono::nanoseconds{successor->in} - kill_->at.time_since_epoch();
      summary.row(took <= limit, "take-over",
                  "worker " + std::to_string(successor->process) + " held " +
                      seconds(seconds_of(took)) + " after the kill");
      summary.more("(allowed: session timeout " + seconds(seconds_of(kill_->session_timeout)) +
                   " and two ticks of " + seconds(seconds_of(tick())) + ")");
    }
  }

  const std::size_t left = mutex_->participants().size();
  if (server_) {
    const auto ephemerals = server_->statistic("zk_ephemerals_count");
    const auto watches = server_->statistic("zk_watch_count");
    summary.row(left == 0 && ephemerals == 0 && watches == 0, "left over",
                std::to_string(ephemerals) + " nodes, " + std::to_string(watches) + " watches");
  } else {
    summary.row(left == 0, "left over", std::to_string(left) + " nodes");
  }

  const Hold* first = verdict.holds.empty() ? nullptr : &verdict.holds.front();
  if (first != nullptr && !kill_) {
    const double took = static_cast<double>(verdict.holds.back().out - first->in) / 1e9;
    summary.note("pace", std::to_string(std::lround(static_cast<double>(grants) / took)) +
                             " grants a second");
  }
  if (!settings_.directory.empty()) {
    summary.note("files", file("history") + ": judge it yourself with custodian-history-check");
  }
  std::cout << '\n'
            << (summary.all_right() ? "All is right." : "Something is WRONG.") << '\n'
            << std::flush;
  return summary.all_right();
}

}  // namespace custodian::demo
