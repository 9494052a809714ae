#pragma once

/// \file
/// Locks of a listing, made of a few numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "custodian/inspect/list_locks.hpp"

namespace custodian::tests {

/// One contender. Its token is its place in the order of arrival.
struct Claimant {
  std::int64_t session = 0;
  std::int64_t token = 0;
  Standing standing = Standing::waits;
  Claim claim = Claim::mutex;
  std::size_t ahead = 0;
};

inline Claimant holds(std::int64_t session, std::int64_t token, Claim claim = Claim::mutex) {
  return {session, token, Standing::holds, claim};
}
inline Claimant waits(std::int64_t session, std::int64_t token, Claim claim = Claim::mutex) {
  return {session, token, Standing::waits, claim};
}
inline Claimant puts_down(std::int64_t session, std::int64_t token) {
  return {session, token, Standing::unclear, Claim::permit};
}

inline ListedLock locked(const std::string& path, const std::vector<Claimant>& claimants,
                         ListedKind kind = ListedKind::mutex) {
  ListedLock made{.path = path, .kind = kind};
  for (const Claimant& each : claimants) {
    made.contenders.push_back({.participant = {.node = path + "/" + std::to_string(each.token),
                                               .identity = "p" + std::to_string(each.session),
                                               .session = each.session,
                                               .token = {0, each.token}},
                               .claim = each.claim,
                               .standing = each.standing,
                               .ahead = each.ahead});
  }
  return made;
}

}  // namespace custodian::tests
