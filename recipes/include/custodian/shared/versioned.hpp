#pragma once

/// \file
/// Versioned is a value together with the write that it comes from. A value type.

#include <cstdint>

namespace custodian {

/// A value as it was read, and the write that it comes from.
template <typename T>
struct Versioned {
  /// The value that was read.
  T value{};
  /// The version of the node's data: 0 when the node was created, one more with each write; and 0
  /// again when the node was deleted and created anew.
  std::int32_t version = 0;
  /// The transaction that wrote the value. It grows over the whole ensemble, so it distinguishes
  /// two writes, and orders them, even if the node was deleted in between. 0: this value was never
  /// read, or the node did not exist.
  std::int64_t mzxid = 0;

  /// Equal if the values are equal and come from the same write.
  friend bool operator==(const Versioned&, const Versioned&) = default;
};

}  // namespace custodian
