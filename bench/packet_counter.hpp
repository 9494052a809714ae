#pragma once

/// \file
/// PacketCounter counts ZooKeeper's packets in a stream. Pure.

#include <cstddef>
#include <cstdint>

namespace custodian::bench {

/// Counts the packets of a stream, in which each packet comes behind its length.
class PacketCounter {
 public:
  /// Returns the number of packets that begin in these bytes, which continue the stream.
  int count(const char* bytes, std::size_t size);

 private:
  std::uint32_t length_ = 0;
  int of_length_ = 0;  ///< how many bytes of the current packet's length have been read
  std::uint64_t left_ = 0;
};

}  // namespace custodian::bench
