#include "inspect/deadlock_circle.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <deque>
#include <map>
#include <utility>

#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {
namespace {

/// A contender, and the lock that it holds or waits for.
struct Claimed {
  const ListedLock* lock = nullptr;
  const Inspected* contender = nullptr;
};

/// What the listing shows of one session.
struct SeenSession {
  std::size_t waits = 0;
  Claimed wait{};                  ///< one of these
  std::int64_t youngest_hold = 0;  ///< a transaction number
  bool has_unclear_claim = false;

  [[nodiscard]] bool is_single_threaded() const {
    return waits == 1 && !has_unclear_claim &&
           youngest_hold < wait.contender->participant.token.value;
  }
};

using Sessions = std::map<std::int64_t, SeenSession>;

Sessions sessions_in(const std::vector<ListedLock>& locks) {
  Sessions sessions;
  for (const ListedLock& lock : locks) {
    for (const Inspected& each : lock.contenders) {
      if (each.participant.session == 0) continue;
      SeenSession& session = sessions[each.participant.session];
      switch (each.standing) {
        case Standing::waits:
          ++session.waits;
          session.wait = {&lock, &each};
          break;
        case Standing::holds:
          session.youngest_hold = std::max(session.youngest_hold, each.participant.token.value);
          break;
        case Standing::unclear:
          // The permits of the first waiter in the line are unclear: mostly these are what it waits
          // for.
          if (each.claim != Claim::permit) session.has_unclear_claim = true;
          break;
      }
    }
  }
  return sessions;
}

bool is_held_by_another(const Inspected& each, std::int64_t session) {
  return each.standing == Standing::holds && each.participant.session != session;
}

/// For a semaphore: the permits whose release the waiter needs. None if other releases might do.
std::vector<const Inspected*> permits_in_the_way(const Claimed& wait) {
  const Participant& waiter = wait.contender->participant;
  if (wait.contender->ahead > 0) return {};
  // A contender that waits for a higher maximum has not created its permits' nodes yet.
  const auto is_put_down = [&](const Inspected& each) {
    return each.standing == Standing::unclear && each.participant.session == waiter.session &&
           each.participant.token.value > waiter.token.value;
  };
  if (std::ranges::none_of(wait.lock->contenders, is_put_down)) return {};
  std::vector<const Inspected*> permits;
  for (const Inspected& each : wait.lock->contenders) {
    if (each.claim == Claim::permit && is_held_by_another(each, waiter.session)) {
      permits.push_back(&each);
    }
  }
  const auto is_another_owner = [&](const Inspected* each) {
    return each->participant.session != permits.front()->participant.session;
  };
  if (std::ranges::any_of(permits, is_another_owner)) return {};
  return permits;
}

/// The holders that must release before the wait can end, one for each session.
std::vector<const Inspected*> holders_in_the_way(const Claimed& wait) {
  if (!wait.lock->malformed.empty()) return {};
  std::vector<const Inspected*> holders;
  switch (wait.lock->kind) {
    case ListedKind::election: return {};
    case ListedKind::semaphore: holders = permits_in_the_way(wait); break;
    case ListedKind::mutex:
    case ListedKind::read_write:
      for (const Inspected& each : wait.lock->contenders) {
        const bool excludes = wait.contender->claim != Claim::read || each.claim != Claim::read;
        if (excludes && is_held_by_another(each, wait.contender->participant.session)) {
          holders.push_back(&each);
        }
      }
      break;
  }
  return holders;
}

/// The wait by which a session was reached, and the contender of the next session that holds it up.
struct Step {
  Claimed wait{};
  const Inspected* holder = nullptr;
};

std::string hexadecimal(std::int64_t session) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (auto rest = static_cast<std::uint64_t>(session); rest != 0; rest /= digits.size()) {
    text.insert(text.begin(), digits[rest % digits.size()]);
  }
  return "0x" + (text.empty() ? "0" : text);
}

/// "2026-11-23T17:05:12Z"
std::string utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

std::optional<WaitCycle> find_deadlock(const std::vector<ListedLock>& locks, const OwnWait& own) {
  const Sessions sessions = sessions_in(locks);
  const auto is_single_threaded = [&](std::int64_t session) {
    const auto found = sessions.find(session);
    return found != sessions.end() && found->second.is_single_threaded();
  };
  if (!is_single_threaded(own.session)) return std::nullopt;
  if (parent_of(sessions.at(own.session).wait.contender->participant.node) != own.queue) {
    return std::nullopt;
  }
  // Breadth first, from the own wait, until a path leads back to it.
  std::map<std::int64_t, Step> reached;  // by the session that was reached
  std::deque<std::int64_t> next{own.session};
  while (!next.empty() && !reached.contains(own.session)) {
    const Claimed wait = sessions.at(next.front()).wait;
    next.pop_front();
    for (const Inspected* holder : holders_in_the_way(wait)) {
      const std::int64_t session = holder->participant.session;
      if (!is_single_threaded(session) || reached.contains(session)) continue;
      reached.emplace(session, Step{wait, holder});
      next.push_back(session);
    }
  }
  if (!reached.contains(own.session)) return std::nullopt;
  WaitCycle circle;
  std::int64_t at = own.session;
  do {
    const Step& step = reached.at(at);
    circle.waits.push_back({.wanted = step.wait.lock->path,
                            .waiter = step.wait.contender->participant,
                            .holder = step.holder->participant});
    at = step.wait.contender->participant.session;
  } while (at != own.session);
  std::ranges::reverse(circle.waits);
  circle.sessions = circle.waits.size();
  return circle;
}

std::size_t younger_waits(const WaitCycle& circle) {
  const FencingToken own = circle.waits.front().waiter.token;
  return static_cast<std::size_t>(std::ranges::count_if(
      circle.waits, [&](const CyclicWait& each) { return each.waiter.token > own; }));
}

bool DeadlockMemory::on_look(const std::optional<WaitCycle>& circle) {
  std::vector<std::string> nodes;
  if (circle) {
    for (const CyclicWait& each : circle->waits) {
      for (const Participant* node : {&each.waiter, &each.holder}) {
        nodes.push_back(node->node + ' ' + std::to_string(node->token.value));
      }
    }
  }
  seen_ = nodes == nodes_ ? seen_ + 1 : 1;
  nodes_ = std::move(nodes);
  return circle && seen_ >= 2 + 2 * younger_waits(*circle);
}

std::string sentence_of(const WaitCycle& circle) {
  std::string text = std::to_string(circle.waits.size()) + " processes wait for each other: ";
  for (std::size_t i = 0; i != circle.waits.size(); ++i) {
    const CyclicWait& wait = circle.waits[i];
    const CyclicWait& held = circle.waits[(i + circle.waits.size() - 1) % circle.waits.size()];
    if (i > 0) text += "; ";
    text += wait.waiter.identity + " (session " + hexadecimal(wait.waiter.session) + ") holds " +
            held.wanted + " since " + utc(held.holder.since) + " and waits for " + wait.wanted +
            " since " + utc(wait.waiter.since);
  }
  return text;
}

}  // namespace custodian::recipes_detail
