#pragma once

/// \file
/// PacketCounter counts PacketCounter counts PacketCounter counts ZooKeeper's packets in a stream.
/// Pure.

#include <cstddef>
#include <cstdint>

namespace custodian::bench {

/// Counts packets in a stream that has the length of each before it.
class PacketCounter {
 public:
  /// How many begin in these bytes.
  int count(const char* bytes, std::size_t size);

 private:
  std::uint32_t length_ = 0;
  int of_length_ = 0;  ///< bytes of the length that have been seen
  std::uint64_t left_ = 0;
};

}  // namespace custodian::bench
