#pragma once

/// \file
/// QuorumLock is a mutex over several independent ensembles: it is held while a lease is held on a
/// majority of them. It serves the purpose of RedLock, with what ZooKeeper offers: fair queues,
/// leases that report their loss, fencing.
///
///     QuorumLock lock{{madrid, oslo, vienna}, "/migration"};
///     const LeaseGroup leases = lock.acquire();
///
/// While the lock is held, ensembles may fail as long as a majority of leases is left; a stop of
/// LeaseGroup::lost() is requested as soon as too few are left. A lock that was acquired on a bare
/// majority survives no failure. An acquire succeeds only while a majority of the ensembles can be
/// reached.
///
/// When not to use it: where one ensemble is enough. An ensemble survives the failure of a minority
/// of its servers by itself, and has one queue and one fencing token. A quorum lock multiplies the
/// requests by the number of ensembles, and waits for one ensemble after the other.
///
/// All programs must name the same ensembles in the same order: a majority excludes only other
/// majorities of the same ensembles, and the common order prevents a circle of waits.
///
/// An acquire goes through the ensembles in the given order, and waits in the queue of each. It
/// skips an ensemble that cannot be reached for longer than `max_unreachable`. Once it holds a
/// majority, it only tries the other ensembles, without waiting: so it does not get an ensemble
/// that is not connected (call `Client::wait_connected` on each client at the start of the
/// program), or whose former holder has not quite left. When it has skipped too many ensembles, it
/// releases all leases, pauses for a random time (by ClientOptions::retry of the first client), and
/// begins again, until its deadline. In a partition where several contenders each hold a part of
/// the ensembles, that may go on until the partition heals. The lock is fair as long as all
/// contenders reach the first ensemble.
///
/// Fencing: tokens of different ensembles cannot be compared, but any two holders have an ensemble
/// in common, where the later holder has the greater token. A resource is safe from former holders
/// if it keeps the greatest token that it has seen of each ensemble, and refuses a holder that has
/// a smaller token of any ensemble: see tokens().
///
/// Release a lost group soon: its node in the first ensemble's queue keeps out all contenders that
/// come to that ensemble first.
///
/// Use, threads and lifetimes: see LockSetBase. There are these differences: RequeuePolicy is
/// ignored. An ensemble whose client is closed, or that fails (with no_auth, for example), is left
/// out; if too few ensembles are left, the acquire ends with that error. If the first client is
/// closed, the acquire always ends.

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
  /// How long an acquire waits for an ensemble that cannot be reached, each time that it comes to
  /// that ensemble; and also how long the ensemble may take to let the acquire enter the queue.
  /// Must be positive. If the time is shorter than a busy ensemble takes to answer, no majority is
  /// ever acquired.
  std::chrono::nanoseconds max_unreachable = std::chrono::seconds{2};
};

/// A mutex over several independent ensembles, held while a majority of them is held.
/// \copydetails custodian/lock_sets/quorum_lock.hpp
class CUSTODIAN_EXPORT QuorumLock final : public LockSetBase {
 public:
  /// Each client stands for an ensemble; the path is the same on all ensembles. Throws Error
  /// (invalid_argument) if there are fewer than three clients, or an even number (which survives no
  /// more failures than one client less), if a client is in the list twice, or if the path or an
  /// option is invalid. Contacts no server.
  QuorumLock(const std::vector<std::reference_wrapper<const Client>>& ensembles,
             const std::string& path, const QuorumLockOptions& options = {});

  /// The fencing tokens of a group that this lock acquired: one for each ensemble, in the order of
  /// the ensembles. The token is 0 for an ensemble without a lease; the resource must skip it.
  [[nodiscard]] std::vector<FencingToken> tokens(const LeaseGroup& leases) const;
};

}  // namespace custodian
