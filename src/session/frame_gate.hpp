#pragma once

/// \file
/// FrameGate decides which of a server's bytes a link hands on to the C client, and when. Pure.
///
/// Between the link and the C client is a pair of sockets, in which Inbox looks at each frame
/// before the C client reads it. Unlike TCP, the pair wakes Inbox for a part of a frame, so the
/// link hands on a frame as a whole. A frame for which the pair is too small is judged first, and
/// then handed on in parts.

#include <cstddef>
#include <string_view>

namespace custodian::detail {

class FrameGate {
 public:
  /// `room` is a number of bytes: as long as at most `room` bytes are unread in the pair of
  /// sockets, the pair takes `room` more at once.
  explicit FrameGate(std::size_t room) noexcept : room_{room} {}

  enum class Step {
    read_more,        ///< the rest of a frame has not arrived yet
    hand_on,          ///< hand on the first `size` bytes, and remove them
    wait_for_reader,  ///< until the C client has emptied the pair far enough
    judge  ///< judge the frame of `size` bytes at the front; then call accepted(), or end
  };
  struct Verdict {
    Step step = Step::read_more;
    std::size_t size = 0;
  };
  /// Decides the next step. `bytes` have come from the server and are not handed on yet. `unread`
  /// is how much the C client has still to read from the pair of sockets, as the kernel counts it:
  /// 0 if there is nothing, otherwise perhaps more than the number of bytes.
  [[nodiscard]] Verdict next(std::string_view bytes, std::size_t unread);
  /// The frame that was judged is good: its `size` bytes are handed on in parts.
  void accepted(std::size_t size) noexcept { rest_ = size; }

 private:
  [[nodiscard]] Verdict next_long(std::size_t size, std::size_t there, std::size_t unread);

  std::size_t room_;
  std::size_t rest_ = 0;  ///< the bytes to come of a frame that is handed on in parts
};

}  // namespace custodian::detail
