#pragma once

/// \file
/// Encodes the values of distributed atomics, as Apache Curator does, and computes what their
/// operations write. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "custodian/atomics/distributed_atomic.hpp"
#include "shared/big_endian.hpp"

namespace custodian::recipes_detail {

template <typename T>
[[nodiscard]] std::string encode_atomic(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return to_big_endian(value);
  } else {
    return value;
  }
}

/// Decodes a value; no bytes mean zero. Nothing if the bytes are no value of this type.
template <typename T>
[[nodiscard]] std::optional<T> decode_atomic(const std::string& bytes) {
  if constexpr (std::is_integral_v<T>) {
    return bytes.empty() ? std::optional<T>{0} : from_big_endian<T>(bytes);
  } else {
    return bytes;
  }
}

/// The sum of two integers. Overflow wraps around, as with std::atomic.
template <typename T>
[[nodiscard]] T wrapping_sum(T left, T right) noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right));
}

/// The value that the operation writes; nothing if the operation leaves the value as it is.
template <typename T>
[[nodiscard]] std::optional<T> modified(const AtomicChange<T>& change, const T& before) {
  switch (change.kind) {
    case AtomicChangeKind::exchange: return change.operand;
    case AtomicChangeKind::exchange_if_equal:
      if (before != change.expected) return std::nullopt;
      return change.operand;
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (change.kind) {
      case AtomicChangeKind::add: return wrapping_sum(before, change.operand);
      case AtomicChangeKind::raise:
        return before < change.operand ? std::optional{change.operand} : std::nullopt;
      case AtomicChangeKind::lower:
        return change.operand < before ? std::optional{change.operand} : std::nullopt;
      default: break;
    }
  }
  return std::nullopt;
}

}  // namespace custodian::recipes_detail
