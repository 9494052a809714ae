#include "session/frames.hpp"

#include <boost/endian/conversion.hpp>
#include <cstdint>

namespace custodian::detail {

WholeFrames whole_frames(std::string_view bytes) noexcept {
  constexpr std::size_t length_size = 4;
  WholeFrames result;
  for (;;) {
    const std::string_view rest = bytes.substr(result.size);
    if (rest.size() < length_size) return {result.size, 0};
    const auto* const front = reinterpret_cast<const unsigned char*>(rest.data());
    result.next = length_size + std::size_t{boost::endian::load_big_u32(front)};
    if (rest.size() < result.next) return result;
    result.size += result.next;
  }
}

}  // namespace custodian::detail
