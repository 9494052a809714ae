#include "packet_counter.hpp"

#include <algorithm>

namespace custodian::bench {

int PacketCounter::count(const char* bytes, std::size_t size) {
  int packets = 0;
  for (std::size_t i = 0; i < size;) {
    if (left_ > 0) {
      const auto part = std::min<std::uint64_t>(left_, size - i);
      left_ -= part;
      i += part;
      continue;
    }
    length_ = length_ << 8 | static_cast<unsigned char>(bytes[i++]);
    if (++of_length_ < 4) continue;
    ++packets;
    left_ = length_;
    length_ = 0;
    of_length_ = 0;
  }
  return packets;
}

}  // namespace custodian::bench
