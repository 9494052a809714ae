#pragma once

/// \file
/// QuorumLock is a mutex over several independent ensembles, held while a majority of them is held:
/// what RedLock is for, on ZooKeeper's terms (fair queues, leases that report their loss, fencing).
///
///     QuorumLock lock{{madrid, oslo, vienna}, "/migration"};
///     const LeaseGroup leases = lock.acquire();
///
/// While it is held, ensembles may fail as long as a majority of leases is left; LeaseGroup::lost()
/// stops as soon as it is not. If only a majority could be acquired, it bears no failure. A
/// majority of the ensembles must be in reach for an acquire.
///
/// When not to use it: where one ensemble will do, which outlives the failure of a minority of its
/// servers by itself, and has one queue and one fencing token. This costs as many times the
/// requests, and waits for one ensemble after the other.
///
/// All programs must name the same ensembles in the same order: a majority excludes only other
/// majorities of the same, and since all wait upwards no circle of waits arises.
///
/// An acquire goes over the ensembles in the order given, and waits in the queue of each. One that
/// is out of reach for longer than `max_unreachable` is passed over. Once a majority is held the
/// others are only tried: one that is not connected then, or whose former holder has not quite
/// left, is not acquired (`Client::wait_connected` on each, at a program's start, helps against the
/// former). When too many have been passed over it releases all, pauses for a random time (by
/// ClientOptions::retry of the first client), and begins again, until its deadline. Under a
/// partition in which several have a part of the ensembles each, that may last until it heals. It
/// is fair as long as all reach the first ensemble.
///
/// Fencing: tokens of different ensembles cannot be compared, but any two holders have an ensemble
/// in common, where the later one has the greater token. A resource that keeps the greatest token
/// that it has seen of each ensemble, and refuses a holder with a smaller one of any, is safe from
/// old holders: see tokens().
///
/// Release a lost group soon: its node in the first ensemble's queue keeps out all contenders that
/// come to that ensemble first.
///
/// How it is used, its threads and lifetimes: LockSetBase. Differences: RequeuePolicy does not
/// count; an ensemble whose client is closed is out (but the first client's end is the acquire's),
/// and so is one that fails (no_auth, for one), until too few are left: that is the error then.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/lock_sets/lock_set_base.hpp"
#include "custodian/locks/inter_process_lock.hpp"

namespace custodian {

/// The options of a quorum lock.
struct QuorumLockOptions {
  /// The options of the mutex on each ensemble.
  LockOptions lock{};
  /// How long an acquire waits for an ensemble that cannot be reached, each time it comes to it;
  /// also how long the ensemble may take to let it into the queue. Must be positive. If it is less
  /// than a busy ensemble takes to answer, no majority is ever acquired.
  std::chrono::nanoseconds max_unreachable = std::chrono::seconds{2};
};

/// A mutex over several independent ensembles, held while a majority of them is held.
/// \copydetails custodian/lock_sets/quorum_lock.hpp
class CUSTODIAN_EXPORT QuorumLock final : public LockSetBase {
 public:
  /// Each client stands for an ensemble; the path is the same on all. Throws Error
  /// (invalid_argument) if they are fewer than three, or an even number (which bears no more
  /// failures than one less), or one is named twice, or the path or an option is wrong. Contacts no
  /// server.
  QuorumLock(const std::vector<std::reference_wrapper<const Client>>& ensembles,
             const std::string& path, const QuorumLockOptions& options = {});

  /// The fencing tokens of leases that were acquired here: one for each ensemble, in their order;
  /// where it has none, 0, which says nothing and is to be passed over.
  [[nodiscard]] std::vector<FencingToken> tokens(const LeaseGroup& leases) const;
};

}  // namespace custodian
