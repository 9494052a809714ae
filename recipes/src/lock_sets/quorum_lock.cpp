#include "custodian/lock_sets/quorum_lock.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "custodian/locks/inter_process_mutex.hpp"
#include "lock_sets/group_acquisition.hpp"
#include "lock_sets/quorum_rule.hpp"

namespace custodian {

namespace {

recipes_detail::LockSetPtr majority_of(
    const std::vector<std::reference_wrapper<const Client>>& ensembles, const std::string& path,
    const QuorumLockOptions& options) {
  const auto refuse = [&](const std::string& why) {
    throw Error{Errc::invalid_argument, "QuorumLock", path, why};
  };
  const std::size_t count = ensembles.size();
  if (count < 3 || count % 2 == 0) {
    refuse("ensembles: an odd number, three at the least, not " + std::to_string(count));
  }
  if (options.max_unreachable <= std::chrono::nanoseconds::zero()) {
    refuse("max_unreachable: an ensemble must be given some time");
  }
  std::set<const void*> clients;
  std::vector<AnyLock> locks;
  for (const Client& client : ensembles) {
    // Two clients that differ only in their namespaces use the same ensemble.
    if (!clients.insert(own_core(client.core()).get()).second) {
      refuse("ensembles: one is there twice");
    }
    locks.emplace_back(InterProcessMutex{client, path, options.lock});
  }
  return std::make_shared<const recipes_detail::LockSet>(
      recipes_detail::LockSet{.locks = std::move(locks),
                              .needed = recipes_detail::majority_of(count),
                              .max_unreachable = options.max_unreachable});
}

}  // namespace

QuorumLock::QuorumLock(const std::vector<std::reference_wrapper<const Client>>& ensembles,
                       const std::string& path, const QuorumLockOptions& options)
    : LockSetBase{majority_of(ensembles, path, options)} {}

std::vector<FencingToken> QuorumLock::tokens(const LeaseGroup& leases) const {
  std::vector<FencingToken> tokens;
  for (const AnyLock& lock : locks().locks) {
    const auto core = recipes_detail::client_of(lock)->core();
    const auto own = std::ranges::find(leases.leases(), core, &Lease::core);
    tokens.push_back(own == leases.leases().end() ? FencingToken{} : own->token());
  }
  return tokens;
}

}  // namespace custodian
