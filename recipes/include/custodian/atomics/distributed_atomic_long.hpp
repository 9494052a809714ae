#pragma once

/// \file
/// DistributedAtomicLong is a number that clients on different machines count with: Apache
/// Curator's class of this name, and compatible with it on the wire (eight bytes, big-endian).
///
/// When not to use it: for unique numbers in quantity (CachedAtomicLong); for statistics, where a
/// number that is a little off will do (each update is a write by a quorum: some hundreds a second
/// over all clients).
///
/// Use, threads and lifetimes: see BasicDistributedAtomic.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/atomics/distributed_atomic.hpp"

namespace custodian {

/// A 64-bit number that clients on different machines count with.
/// \copydetails custodian/atomics/distributed_atomic_long.hpp
class DistributedAtomicLong final : public BasicDistributedAtomic<std::int64_t> {
 public:
  /// `path` is the node itself. Throws Error (invalid_argument) if it, or the path of a lock in the
  /// options, is not a valid path, or if it is the root. Contacts no server.
  DistributedAtomicLong(const Client& client, std::string path, UpdateOptions options = {})
      : BasicDistributedAtomic{client, "DistributedAtomicLong", std::move(path),
                               std::move(options)} {}
};

}  // namespace custodian
