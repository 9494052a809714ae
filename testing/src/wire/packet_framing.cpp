#include "wire/packet_framing.hpp"

#include <algorithm>

namespace custodian::testing {

PacketFraming::Step PacketFraming::step(std::string_view bytes) {
  Step step;
  for (; length_bytes_ < 4 && step.bytes < bytes.size(); ++step.bytes, ++length_bytes_) {
    left_ = left_ << 8 | static_cast<unsigned char>(bytes[step.bytes]);
  }
  if (length_bytes_ < 4) return step;
  const auto body = std::min<std::size_t>(left_, bytes.size() - step.bytes);
  step.bytes += body;
  left_ -= static_cast<std::uint32_t>(body);
  step.ends_packet = left_ == 0;
  if (step.ends_packet) length_bytes_ = 0;
  return step;
}

std::uint64_t PacketFraming::advance(std::string_view bytes) {
  std::uint64_t packets = 0;
  while (!bytes.empty()) {
    const Step next = step(bytes);
    if (next.ends_packet) ++packets;
    bytes.remove_prefix(next.bytes);
  }
  return packets;
}

std::size_t PacketFraming::bytes_within(std::string_view bytes, std::uint64_t packets) const {
  PacketFraming copy = *this;
  std::size_t within = 0;
  while (within < bytes.size() && packets > 0) {
    const Step next = copy.step(bytes.substr(within));
    if (next.ends_packet) --packets;
    within += next.bytes;
  }
  return within;
}

}  // namespace custodian::testing
