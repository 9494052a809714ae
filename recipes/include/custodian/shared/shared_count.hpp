#pragma once

/// \file
/// A number that processes on different machines share: Apache Curator's SharedCount, and
/// compatible with it on the wire (four bytes, big-endian).
///
/// When not to use it: to count what happens often (each increment is a quorum's write, fails
/// whenever somebody else was quicker, and wakes everybody who waits).
///
/// How it is used, its threads and lifetimes: BasicSharedValue.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/shared/basic_shared_value.hpp"

namespace custodian {

/// A number that processes on different machines share.
/// \copydetails custodian/shared/shared_count.hpp
class SharedCount final : public BasicSharedValue<std::int32_t> {
 public:
  /// `path` is the node itself. Throws Error (invalid_argument) if it is not a valid path, or the
  /// root. Contacts no server.
  SharedCount(const Client& client, std::string path, std::int32_t seed = 0)
      : BasicSharedValue{client, "SharedCount", std::move(path), seed} {}
};

}  // namespace custodian
