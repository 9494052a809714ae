#include "serve/lock_walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "queue/lock_list_view.hpp"
#include "text/printable_text.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

void add(LockListing& all, LockListing more) {
  const auto move_behind = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  move_behind(all.locks, more.locks);
  move_behind(all.forbidden, more.forbidden);
  all.nodes += more.nodes;
  all.is_complete = all.is_complete && more.is_complete;
}

void remove_doubles(LockListing& all) {
  std::ranges::stable_sort(all.locks, {}, &ListedLock::path);
  const auto locks = std::ranges::unique(all.locks, {}, &ListedLock::path);
  all.locks.erase(locks.begin(), locks.end());
  std::ranges::sort(all.forbidden);
  const auto forbidden = std::ranges::unique(all.forbidden);
  all.forbidden.erase(forbidden.begin(), forbidden.end());
}

}  // namespace

LockWalk walk(const Client& client, const std::vector<std::string>& paths,
              const ListOptions& options, std::stop_token stop) {
  const auto began = std::chrono::steady_clock::now();
  LockWalk found{.at = std::chrono::system_clock::now()};
  try {
    for (const std::string& path : paths) {
      add(found.listing, list_locks(client, path, options, stop));
    }
    if (paths.size() > 1) remove_doubles(found.listing);
    found.cycles = find_wait_cycles(found.listing.locks);
  } catch (const Error& error) {
    found.error = error.code() == Errc::deadline_exceeded
                      ? "the servers do not answer"
                      : "the servers do not answer: " + printable(error.code().message());
  }
  found.took =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  return found;
}

Json json_of_locks(const LockWalk& walk) {
  Json json{{"at", iso_time(walk.at)},
            {"nodes", walk.listing.nodes},
            {"complete", walk.listing.is_complete},
            {"remarks", remarks_on(walk.listing)},
            {"locks", Json::array()}};
  for (const ListedLock& lock : walk.listing.locks) json["locks"].push_back(json_of(lock));
  return json;
}

Json json_of_cycles(const LockWalk& walk) {
  Json json{{"at", iso_time(walk.at)}, {"cycles", Json::array()}};
  for (const WaitCycle& cycle : walk.cycles) json["cycles"].push_back(json_of(cycle));
  return json;
}

}  // namespace custodian::cli
