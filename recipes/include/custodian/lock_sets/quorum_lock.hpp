#pragma once

/// \file
/// A mutex over several independent ensembles, held by whoever holds a majority of them: what
/// RedLock is for, on ZooKeeper's terms (fair queues, leases that are told of their loss, fencing).
///
///     QuorumLock lock{{madrid, oslo, vienna}, "/migration"};
///     const LeaseGroup leases = lock.acquire();
///
/// While it is held, ensembles may fail as long as a majority of leases is left; LeaseGroup::lost()
/// tells as soon as it is not. Acquired when only a majority was to be had, it bears no failure. A
/// majority of the ensembles must be in reach for an acquire.
///
/// When not to use it: where one ensemble will do, which outlives the failure of a minority of its
/// servers by itself, and has one queue and one fencing token. This costs as many times the
/// requests, and waits for one ensemble after the other.
///
/// Everybody must name the same ensembles in the same order: a majority excludes only other
/// majorities of the same, and nobody waits in a circle because everybody waits upwards.
///
/// An acquire goes over the ensembles in the order given, and waits in the queue of each. One that
/// is out of reach for longer than `max_unreachable` is passed over. Once a majority is held the
/// others are only tried: one that is not connected then, or that the holder before has not quite
/// left, is not had (`Client::wait_connected` on each, at a program's start, helps against the
/// former). When too many have been passed over it lets go of all, pauses for a random time (by
/// ClientOptions::retry of the first client), and begins again, until its deadline. Under a
/// partition in which several have a part of the ensembles each, that may last until it heals. Fair
/// it is as far as all reach the first ensemble.
///
/// Fencing: tokens of different ensembles cannot be compared, but any two holders have an ensemble
/// in common, where the later one has the greater token. A resource that keeps the greatest token
/// that it has seen of each ensemble, and refuses whoever comes with a smaller one of any, is safe
/// from old holders: see tokens().
///
/// Let go of a lost group soon: whoever sits in the first ensemble's queue for a lock that is lost
/// keeps out all those who come to that ensemble first.
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

/// What a quorum lock may be told.
struct QuorumLockOptions {
  /// Of the mutex on each ensemble.
  LockOptions lock{};
  /// How long an acquire waits for an ensemble that cannot be reached, each time it comes to it;
  /// also how long the ensemble may take to let it stand in the queue. Must be positive. Less than
  /// the answers of a busy ensemble take, and no majority is ever had.
  std::chrono::nanoseconds max_unreachable = std::chrono::seconds{2};
};

/// A mutex over several independent ensembles, held by whoever holds a majority of them.
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
