#pragma once

/// \file
/// Where the frames of ZooKeeper's protocol end. Pure.

#include <cstddef>
#include <string_view>

namespace custodian::detail {

/// The front part of a stream's bytes.
struct WholeFrames {
  /// The bytes of all whole frames.
  std::size_t size = 0;
  /// The size of the frame behind them as it says itself, with its four bytes of length; 0 if those
  /// are not there yet.
  std::size_t next = 0;
};

/// `bytes` begin where a frame begins. A length that no frame can have, a negative one, counts as a
/// frame without end: who reads the frame refuses it.
[[nodiscard]] WholeFrames whole_frames(std::string_view bytes) noexcept;

}  // namespace custodian::detail
