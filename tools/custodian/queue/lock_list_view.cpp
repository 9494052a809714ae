#include "queue/lock_list_view.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "queue/owner_text.hpp"
#include "text/printable_text.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::system_clock;

/// The contenders of a lock that hold it, or that wait for it.
std::vector<const Inspected*> contenders_of(const ListedLock& lock, Standing standing) {
  std::vector<const Inspected*> chosen;
  for (const Inspected& each : lock.contenders) {
    if (each.standing == standing) chosen.push_back(&each);
  }
  return chosen;
}

/// The contender that has been there for the longest time.
const Participant& oldest_of(const std::vector<const Inspected*>& contenders) {
  return (*std::ranges::min_element(contenders, {},
                                    [](const Inspected* each) { return each->participant.since; }))
      ->participant;
}

std::string holders_text(const ListedLock& lock) {
  const auto holders = contenders_of(lock, Standing::holds);
  if (holders.empty()) return "unclear";
  std::string text = identity_or_dash(holders.front()->participant.identity);
  if (holders.size() > 1) text += " and " + std::to_string(holders.size() - 1) + " more";
  const bool is_asked = std::ranges::any_of(lock.contenders, &Inspected::is_asked_to_release);
  return is_asked ? text + " (asked to release)" : text;
}

std::string oldest_text(const std::vector<const Inspected*>& contenders,
                        system_clock::time_point now) {
  return contenders.empty() ? "-" : age_text(now - oldest_of(contenders).since);
}

std::vector<std::string> row_of(const ListedLock& lock, system_clock::time_point now) {
  const auto holders = contenders_of(lock, Standing::holds);
  const auto waiters = contenders_of(lock, Standing::waits);
  const bool one = holders.size() == 1;
  return {std::string{to_string(lock.kind)},
          printable(lock.path),
          holders_text(lock),
          oldest_text(holders, now),
          one ? session_or_none(holders.front()->participant.session) : "-",
          std::to_string(waiters.size()),
          oldest_text(waiters, now)};
}

bool is_of(const Participant& who, const std::string& whose) {
  return session_or_none(who.session) == whose || who.identity.find(whose) != std::string::npos;
}

/// The wait of the session before this one in the circle: it waits for a lock that this one holds.
const CyclicWait& before(const WaitCycle& cycle, std::size_t index) {
  return cycle.waits[(index + cycle.waits.size() - 1) % cycle.waits.size()];
}

}  // namespace

void apply(const LockFilter& filter, LockListing& listing, system_clock::time_point now) {
  std::erase_if(listing.locks, [&](const ListedLock& lock) {
    const auto passes = [&](const Inspected& each) {
      return now - each.participant.since > filter.longer_than &&
             (filter.of.empty() || is_of(each.participant, filter.of));
    };
    const bool all = filter.of.empty() && filter.longer_than < std::chrono::nanoseconds::zero();
    return !all && std::ranges::none_of(lock.contenders, passes);
  });
}

std::vector<std::string> lines_of(const LockListing& listing, const std::string& path,
                                  system_clock::time_point now) {
  std::vector<std::string> lines;
  if (listing.locks.empty()) {
    lines.push_back("nobody holds or waits at " + printable(path) + ", nor below it");
  } else {
    std::vector<std::vector<std::string>> rows{
        {"KIND", "PATH", "HOLDER", "AGE", "SESSION", "WAITING", "OLDEST"}};
    for (const ListedLock& each : listing.locks) rows.push_back(row_of(each, now));
    lines = aligned(rows);
  }
  for (const ListedLock& lock : listing.locks) {
    for (const std::string& node : lock.malformed) {
      lines.push_back("bears no number, and stops the queue; remove it: " + printable(node));
    }
  }
  std::ranges::move(remarks_on(listing), std::back_inserter(lines));
  return lines;
}

Json json_of(const ListedLock& lock) {
  Json json;
  json["path"] = lock.path;
  json["kind"] = to_string(lock.kind);
  json["holders"] = Json::array();
  const auto waiters = contenders_of(lock, Standing::waits);
  for (const Inspected* each : contenders_of(lock, Standing::holds)) {
    Json holder;
    put_participant(holder, each->participant);
    json["holders"].push_back(std::move(holder));
  }
  json["waiting"] = waiters.size();
  json["oldest_wait"] = waiters.empty() ? Json(nullptr) : Json(iso_time(oldest_of(waiters).since));
  json["asked_to_release"] = std::ranges::any_of(lock.contenders, &Inspected::is_asked_to_release);
  json["malformed"] = lock.malformed;
  return json;
}

std::vector<std::string> lines_of(const WaitCycle& cycle, system_clock::time_point now) {
  std::vector<std::string> lines{std::to_string(cycle.sessions) + " sessions wait for each other" +
                                 (cycle.sessions > cycle.waits.size() ? ", among them:" : ":")};
  std::vector<std::vector<std::string>> rows{
      {"", "IDENTITY", "SESSION", "HOLDS", "SINCE", "WAITS FOR", "SINCE"}};
  for (std::size_t i = 0; i != cycle.waits.size(); ++i) {
    const CyclicWait& wait = cycle.waits[i];
    const CyclicWait& held = before(cycle, i);
    const bool is_last = i + 1 == cycle.waits.size();
    rows.push_back({i == 0 ? "->" : (is_last ? "<-" : "|"), identity_or_dash(wait.waiter.identity),
                    session_or_none(wait.waiter.session), printable(held.wanted),
                    age_text(now - held.holder.since), printable(wait.wanted),
                    age_text(now - wait.waiter.since)});
  }
  std::ranges::move(aligned(rows), std::back_inserter(lines));
  return lines;
}

Json json_of(const WaitCycle& cycle) {
  Json json;
  json["sessions"] = cycle.sessions;
  json["waits"] = Json::array();
  for (std::size_t i = 0; i != cycle.waits.size(); ++i) {
    const CyclicWait& wait = cycle.waits[i];
    const CyclicWait& held = before(cycle, i);
    Json entry;
    put_identity(entry, wait.waiter.identity);
    entry["session"] = session_text(wait.waiter.session);
    entry["holds"] = held.wanted;
    entry["holds_since"] = iso_time(held.holder.since);
    entry["waits_for"] = wait.wanted;
    entry["waits_since"] = iso_time(wait.waiter.since);
    json["waits"].push_back(std::move(entry));
  }
  return json;
}

std::vector<std::string> advice_on_cycles() {
  return {
      "A session is a process, not a thread, so this is a suspicion. If it is still there when you "
      "look again,",
      "these processes block each other: end one of them, or break the oldest hold (custodian "
      "break)."};
}

std::vector<std::string> remarks_on(const LockListing& listing) {
  std::vector<std::string> lines;
  for (const std::string& path : listing.forbidden) {
    lines.push_back("may not be read: " + printable(path));
  }
  if (!listing.is_complete) {
    lines.push_back("only the first " + std::to_string(listing.nodes) +
                    " nodes were looked at: there may be more locks; see --max-nodes");
  }
  return lines;
}

}  // namespace custodian::cli
