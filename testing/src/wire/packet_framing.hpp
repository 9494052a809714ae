#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace custodian::testing {

/// PacketFraming finds where packets end in a ZooKeeper stream. A packet is a length of four bytes,
/// big-endian, and that many bytes. Pure: it takes the bytes in pieces of any size and keeps none.
class PacketFraming {
 public:
  /// Consumes these bytes, and counts the packets that end in them.
  std::uint64_t advance(std::string_view bytes);

  /// How many of these bytes belong to the next `packets` packets.
  [[nodiscard]] std::size_t bytes_within(std::string_view bytes, std::uint64_t packets) const;

 private:
  struct Step {
    std::size_t bytes = 0;
    bool ends_packet = false;
  };
  // Consumes up to the end of the current packet, or of the bytes.
  Step step(std::string_view bytes);

  unsigned length_bytes_ = 0;  // bytes read of the packet's length
  std::uint32_t left_ = 0;     // bytes left of its body; while length_bytes_ < 4, the length so far
};

}  // namespace custodian::testing
