#pragma once

/// \file
/// InterProcessMutex is a fair lock that processes on different machines share. It is Apache
/// Curator's class of this name, and compatible with it on the wire.
///
/// Each contender creates an ephemeral sequential node below the lock's path. The contender with
/// the lowest number holds the lock; every other contender waits until its predecessor has left. So
/// a release wakes one waiter, the order is that of arrival, and the lock of a process that dies
/// passes on when its session times out.
///
/// When not to use it: inside one process (std::mutex is a thousand times faster); for work that
/// must never run twice, whatever happens (a holder that is stopped or cut off may believe that it
/// holds a lock that has passed on: let the resource check Lease::token()); for thousands of
/// acquires a second; where most acquires only read (InterProcessReadWriteLock).
///
/// Use, threads and lifetimes: see InterProcessLock.

#include "custodian/export.hpp"
#include "custodian/locks/inter_process_lock.hpp"

namespace custodian {

/// A fair lock that processes on different machines share.
/// \copydetails custodian/locks/inter_process_mutex.hpp
class CUSTODIAN_EXPORT InterProcessMutex final : public InterProcessLock {
 public:
  /// `path` is the parent of the contenders' nodes; it is created, as a container, when it is
  /// needed. Throws Error (invalid_argument) if it is not a valid path. Contacts no server.
  InterProcessMutex(const Client& client, std::string path, LockOptions options = {});
};

}  // namespace custodian
