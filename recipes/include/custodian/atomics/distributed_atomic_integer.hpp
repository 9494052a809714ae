#pragma once

/// \file
/// DistributedAtomicInteger is a number that clients on different machines count with: Apache
/// Curator's class of this name, and compatible with it on the wire (four bytes, big-endian). A
/// SharedCount may use the same node, to be notified when the value changes.
///
/// When not to use it: as DistributedAtomicLong.
///
/// Use, threads and lifetimes: see BasicDistributedAtomic.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/atomics/distributed_atomic.hpp"

namespace custodian {

/// A 32-bit number that clients on different machines count with.
/// \copydetails custodian/atomics/distributed_atomic_integer.hpp
class DistributedAtomicInteger final : public BasicDistributedAtomic<std::int32_t> {
 public:
  /// `path` is the node itself. Throws Error (invalid_argument) if it, or the path of a lock in the
  /// options, is not a valid path, or if it is the root. Contacts no server.
  DistributedAtomicInteger(const Client& client, std::string path, UpdateOptions options = {})
      : BasicDistributedAtomic{client, "DistributedAtomicInteger", std::move(path),
                               std::move(options)} {}
};

}  // namespace custodian
