#pragma once

/// \file
/// DistributedAtomicValue is a few bytes that clients on different machines update: Apache
/// Curator's class of this name, and compatible with it on the wire. update() takes a function that
/// computes the next value from the present one.
///
/// When not to use it: for values that are seldom written and often awaited (SharedValue); for
/// values that are large (the servers accept 1 MB at most, and each update reads and writes all of
/// it).
///
/// Use, threads and lifetimes: see BasicDistributedAtomic.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/atomics/distributed_atomic.hpp"

namespace custodian {

/// A few bytes that clients on different machines update.
/// \copydetails custodian/atomics/distributed_atomic_value.hpp
class DistributedAtomicValue final : public BasicDistributedAtomic<std::string> {
 public:
  /// `path` is the node itself. Throws Error (invalid_argument) if it, or the path of a lock in the
  /// options, is not a valid path, or if it is the root. Contacts no server.
  DistributedAtomicValue(const Client& client, std::string path, UpdateOptions options = {})
      : BasicDistributedAtomic{client, "DistributedAtomicValue", std::move(path),
                               std::move(options)} {}
};

}  // namespace custodian
