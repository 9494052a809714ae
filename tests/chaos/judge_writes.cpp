#include <algorithm>
#include <set>

#include "judge_parts.hpp"

namespace custodian::chaos {
namespace {

/// The times at which fenced writes have landed, as far as the history shows. A fenced write that
/// begins later must have a greater token.
class Landings {
 public:
  void add(const Token& token, Time at) { landed_.emplace_back(at, token); }
  void arrange() {
    std::ranges::sort(landed_);
    Token largest;
    for (auto& [at, token] : landed_) token = largest = std::max(largest, token);
  }
  /// The largest token whose write had landed before that time.
  [[nodiscard]] Token largest_before(Time at) const {
    const auto later = std::ranges::lower_bound(landed_, at, {}, &std::pair<Time, Token>::first);
    return later == landed_.begin() ? Token{} : std::prev(later)->second;
  }

 private:
  std::vector<std::pair<Time, Token>> landed_;
};

/// The guarded register of one lock. Each write that lands adds one to its version, so that writes
/// whose answers were lost show as gaps. The guard of a write is the holder's node, which is
/// represented by the first token that was granted with it.
struct Register {
  std::map<std::int64_t, Token> landed{};  ///< the token that wrote each version
  std::multiset<Token> unknown{};          ///< tokens of writes that may have landed
};

void judge_register(const std::string& lock, Register guarded, std::int64_t last_version,
                    Verdict& verdict) {
  const auto report = [&](const std::string& what) {
    verdict.violations.push_back({Rule::no_stale_write, "the register of " + lock + ": " + what});
  };
  std::int64_t version = 0;
  Token token;
  // Fills a gap with writes of unknown outcome. Of the tokens that fit in between it takes the
  // smallest.
  const auto fill_gap = [&](std::int64_t until_version, const Token& until_token) {
    for (; version + 1 < until_version; ++version) {
      const auto found = guarded.unknown.lower_bound(token);
      if (found == guarded.unknown.end() || *found > until_token) {
        report("version " + std::to_string(version + 1) + " is a write between tokens " +
               to_string(token) + " and " + to_string(until_token) +
               " that none of their holders has made");
        version = until_version - 1;
        return;
      }
      token = *found;
      guarded.unknown.erase(found);
    }
  };
  for (const auto& [next_version, next_token] : guarded.landed) {
    if (next_token < token) {
      report("version " + std::to_string(next_version) + " was written with token " +
             to_string(next_token) + " after one with token " + to_string(token));
    }
    fill_gap(next_version, std::max(token, next_token));
    version = next_version;
    token = std::max(token, next_token);
  }
  if (last_version < version) report("its version has gone back");
  constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  fill_gap(last_version + 1, {.epoch = greatest, .value = greatest});
}

/// Returns whether the lock had passed on when the write began, as far as the write's guard can
/// tell.
bool is_stale(const Write& write, const Acquire& hold, const Holds& holds, const Landings& fenced) {
  switch (write.kind) {
    // A resource can refuse an old token only if it has seen a newer one.
    case WriteKind::fenced: return fenced.largest_before(write.begun) > hold.token;
    // check() succeeds for as long as the process passes the same node on.
    case WriteKind::guarded: return holds.next_grant_of_another_node(hold) < write.begun;
    case WriteKind::bare: break;
  }
  return holds.next_grant(hold) < write.begun;
}

}  // namespace

void judge_writes(const History& history, const Holds& holds, Verdict& verdict) {
  std::map<std::string, Landings> fenced;
  std::map<std::string, Register> guarded;
  for (const Write& write : history.writes) {
    const Acquire& hold = history.acquires[write.hold];
    if (write.kind == WriteKind::fenced && write.outcome == WriteOutcome::landed)
      fenced[hold.lock].add(hold.token, write.done.value_or(never));
    if (write.kind != WriteKind::guarded) continue;
    if (write.outcome == WriteOutcome::unknown)
      guarded[hold.lock].unknown.insert(first_of_node(hold.token));
    if (write.outcome == WriteOutcome::landed &&
        !guarded[hold.lock].landed.emplace(write.version, first_of_node(hold.token)).second) {
      verdict.violations.push_back(
          {Rule::no_stale_write, describe(hold) + " has landed a write as version " +
                                     std::to_string(write.version) + ", and another has, too"});
    }
  }
  for (auto& [lock, landings] : fenced) landings.arrange();

  for (const Write& write : history.writes) {
    const Acquire& hold = history.acquires[write.hold];
    WriteStatistics& statistics = verdict.writes[write.kind];
    const bool landed = write.outcome == WriteOutcome::landed;
    ++statistics.attempted;
    if (landed) ++statistics.landed;
    if (!is_stale(write, hold, holds, fenced[hold.lock])) continue;
    ++statistics.stale_attempted;
    if (!landed) continue;
    ++statistics.stale_landed;
    if (write.kind == WriteKind::bare) continue;
    verdict.violations.push_back(
        {Rule::no_stale_write, describe(hold) + " has landed a " +
                                   (write.kind == WriteKind::fenced ? "fenced" : "guarded") +
                                   " write after the lock had passed on"});
  }
  for (auto& [lock, writes] : guarded) {
    const auto last = history.registers.find(lock);
    if (last != history.registers.end())
      judge_register(lock, std::move(writes), last->second, verdict);
  }
}

}  // namespace custodian::chaos
