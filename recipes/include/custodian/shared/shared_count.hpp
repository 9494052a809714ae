#pragma once

/// \file
/// SharedCount is a number that processes on different machines share. It is Apache Curator's class
/// of this name, and compatible with it on the wire (four bytes, big-endian).
///
/// When not to use it: to count frequent events. Each increment is a write by a quorum, fails
/// whenever another client was quicker, and wakes every waiter.
///
/// Use, threads and lifetimes: see BasicSharedValue.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/shared/basic_shared_value.hpp"

namespace custodian {

/// A number that processes on different machines share.
/// \copydetails custodian/shared/shared_count.hpp
class SharedCount final : public BasicSharedValue<std::int32_t> {
 public:
  /// `path` is the path of the node that holds the number. Throws Error (invalid_argument) if it is
  /// not a valid path, or the root. Contacts no server.
  SharedCount(const Client& client, std::string path, std::int32_t seed = 0)
      : BasicSharedValue{client, "SharedCount", std::move(path), seed} {}
};

}  // namespace custodian
