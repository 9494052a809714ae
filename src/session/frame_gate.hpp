#pragma once

/// \file
/// FrameGate decides what of a server's bytes a link hands on to the C client. Pure.
///
/// Inbox, the C client's reader, looks at each frame while it lies in the pair of sockets between,
/// and unlike TCP the pair wakes it for a part of one. So a frame becomes visible as a whole. One
/// for which the pair is too small is judged here first, and comes in parts.

#include <cstddef>
#include <string_view>

namespace custodian::detail {

class FrameGate {
 public:
  /// `room`: a pair of sockets with at most this many unread bytes takes this many more at once.
  explicit FrameGate(std::size_t room) noexcept : room_{room} {}

  enum class Step {
    read_more,        ///< a frame's rest has not come yet
    hand_on,          ///< the first `size` bytes, which do not come back
    wait_for_reader,  ///< until it has read what is in the pair
    judge             ///< the first `size` bytes, a frame; then call accepted(), or end
  };
  struct Verdict {
    Step step = Step::read_more;
    std::size_t size = 0;
  };
  /// `bytes` have come from the server and are not handed on yet. `unread` is how much the C client
  /// has still to read from the pair of sockets, as the kernel counts it: 0 if there is nothing,
  /// otherwise perhaps more than the number of bytes.
  [[nodiscard]] Verdict next(std::string_view bytes, std::size_t unread);
  /// The frame that was to be judged may be read.
  void accepted(std::size_t size) noexcept { rest_ = size; }

 private:
  [[nodiscard]] Verdict next_long(std::size_t size, std::size_t there, std::size_t unread);

  std::size_t room_;
  std::size_t rest_ = 0;  ///< the bytes to come of a frame that is handed on in parts
};

}  // namespace custodian::detail
