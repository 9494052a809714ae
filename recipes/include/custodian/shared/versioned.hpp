#pragma once

/// \file
/// A value, and which write it is from. A value type.

#include <cstdint>

namespace custodian {

/// A value as it was read, and which write it is from.
template <typename T>
struct Versioned {
  /// What was read.
  T value{};
  /// Of the node's data: 0 when it was created, one more with each write; and 0 again when the node
  /// was deleted and created anew.
  std::int32_t version = 0;
  /// The transaction that wrote the value. It grows over the whole ensemble, so it tells two writes
  /// apart, and which is the later, whatever has become of the node in between. 0: never read.
  std::int64_t mzxid = 0;

  /// The same value from the same write.
  friend bool operator==(const Versioned&, const Versioned&) = default;
};

}  // namespace custodian
