#pragma once

/// \file
/// SharedValue is a few bytes that processes on different machines share. It is Apache Curator's
/// class of this name, and compatible with it on the wire.
///
/// When not to use it: for values that change many times a second (each write needs a quorum,
/// and wakes every waiter), or that are large (each waiter reads all of it; the servers accept 1 MB
/// at most); for numbers (SharedCount).
///
/// Use, threads and lifetimes: see BasicSharedValue.

#include <string>
#include <utility>

#include "custodian/shared/basic_shared_value.hpp"

namespace custodian {

/// A few bytes that processes on different machines share.
/// \copydetails custodian/shared/shared_value.hpp
class SharedValue final : public BasicSharedValue<std::string> {
 public:
  /// `path` is the path of the node that holds the value. Throws Error (invalid_argument) if it is
  /// not a valid path, or the root, or if the seed is larger than the servers accept. Contacts no
  /// server.
  SharedValue(const Client& client, std::string path, const std::string& seed = {})
      : BasicSharedValue{client, "SharedValue", std::move(path), seed} {}
};

}  // namespace custodian
