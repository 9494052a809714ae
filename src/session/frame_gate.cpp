#include "session/frame_gate.hpp"

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cstdint>
#include <limits>

#include "session/inbox.hpp"
#include "session/reply_check.hpp"

namespace custodian::detail {
namespace {

constexpr std::size_t length_size = 4;

/// The size of the frame at the front, its length field included; 0 if that field is not complete.
std::size_t size_of_first(std::string_view bytes) {
  if (bytes.size() < length_size) return 0;
  const auto* const front = reinterpret_cast<const unsigned char*>(bytes.data());
  return length_size + std::size_t{boost::endian::load_big_u32(front)};
}

/// The size of the complete frames at the front that take at most `room` bytes together.
std::size_t size_of_short(std::string_view bytes, std::size_t room) {
  std::size_t total = 0;
  for (;;) {
    const std::size_t size = size_of_first(bytes.substr(total));
    if (size == 0 || total + size > std::min(room, bytes.size())) return total;
    total += size;
  }
}

}  // namespace

FrameGate::Verdict FrameGate::next(std::string_view bytes, std::size_t unread) {
  if (rest_ > 0) {
    const std::size_t part = std::min(rest_, bytes.size());
    rest_ -= part;
    return {part > 0 ? Step::hand_on : Step::read_more, part};
  }
  if (const std::size_t size = size_of_short(bytes, room_); size > 0) {
    return {unread <= room_ ? Step::hand_on : Step::wait_for_reader, size};
  }
  const std::size_t size = size_of_first(bytes);
  return size > room_ ? next_long(size, bytes.size(), unread) : Verdict{};
}

/// The next step for a frame of more than `room_` bytes at the front:
///
/// 1. A frame that Inbox can check as a whole is judged ahead, when the C client has read all that
///    came before it.
/// 2. Inbox judges a longer frame by its beginning, so enough of the beginning must have arrived.
/// 3. A length that no frame may have is handed on, because Inbox refuses it.
FrameGate::Verdict FrameGate::next_long(std::size_t size, std::size_t there, std::size_t unread) {
  if (size > length_size + ReplyCheck::longest_frame) {
    rest_ = std::numeric_limits<std::size_t>::max() - there;
    return {Step::hand_on, there};
  }
  const std::size_t needed = size > Inbox::longest_whole ? Inbox::enough_of_a_long_one : size;
  if (there < needed) return {};
  if (unread > 0) return {Step::wait_for_reader, 0};
  if (size <= Inbox::longest_whole) return {Step::judge, size};
  const std::size_t part = std::min(size, there);
  rest_ = size - part;
  return {Step::hand_on, part};
}

}  // namespace custodian::detail
