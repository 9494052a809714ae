#pragma once

/// \file
/// PacketCounter counts ZooKeeper's packets in a stream. Pure.

#include <cstddef>
#include <cstdint>

namespace custodian::bench {

/// Counts packets in a stream in which each packet follows its length.
class PacketCounter {
 public:
  /// The number of packets that begin in these bytes.
  int count(const char* bytes, std::size_t size);

 private:
  std::uint32_t length_ = 0;
  int of_length_ = 0;  ///< bytes of the current packet's length read so far
  std::uint64_t left_ = 0;
};

}  // namespace custodian::bench
