#include "session/inbox.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace custodian::detail {
namespace {

/// Whether the peer has closed its side, so that no more input will come.
bool has_ended(int descriptor) {
  pollfd socket{descriptor, POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

}  // namespace

void Inbox::disconnected(std::int64_t session) {
  check_.connect(session);
  good_frames_ = 0;
  awaited_ = 0;
  in_frame_ = false;
  fault_.clear();
}

Inbox::Next Inbox::next(int descriptor) {
  if (in_frame_ || good_frames_ > 0) return Next::read;
  if (!fault_.empty()) return Next::fault;
  return drained_ ? Next::wait : look(descriptor);
}

bool Inbox::accepts_ahead(std::string_view frame) {
  Finding found = check_.examine(frame);
  if (found.kind == Finding::Kind::good) {
    ++good_frames_;
    return true;
  }
  fault_ = std::move(found.fault);
  return false;
}

void Inbox::has_read(Read read) {
  const bool goes_on = std::exchange(in_frame_, read == Read::part);
  // The end of a connection is no frame: when the C client reads it, no good frame is left.
  if (!goes_on && good_frames_ > 0) --good_frames_;
}

/// 1. Peek at the socket's input, which stays in the kernel.
/// 2. Count the whole frames at its front that pass the check: the C client may read those.
/// 3. If there is none, and the first frame is longer than the buffer, enlarge the buffer and begin
///    again.
/// 4. Wait for a frame that has not arrived as a whole. If it is longer than longest_whole, or than
///    the kernel can hold, it is judged by its beginning: look_at_part().
Inbox::Next Inbox::look(int descriptor) {
  if (buffer_.empty()) buffer_.resize(usual_size);
  for (;;) {
    const auto count = ::recv(descriptor, buffer_.data(), buffer_.size(), MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Next::wait;
    if (count <= 0) return Next::read;  // an end or an error: the C client finds out which
    const std::string_view bytes{buffer_.data(), static_cast<std::size_t>(count)};
    std::string_view rest = bytes;
    Finding found = check_.examine(rest);
    while (found.kind == Finding::Kind::good) {
      ++good_frames_;
      rest.remove_prefix(found.size);
      found = check_.examine(rest);
    }
    const bool all_seen = bytes.size() < buffer_.size();
    if (good_frames_ > 0) {
      // The bytes behind the good frames are checked when those have been read.
      drained_ = rest.empty() && all_seen;
      if (awaited_ != 0) ask_for(descriptor, 0);
      return Next::read;
    }
    if (found.kind == Finding::Kind::fault) {
      fault_ = std::move(found.fault);
      return Next::fault;
    }
    if (all_seen || found.size > longest_whole) return look_at_part(descriptor, rest, found.size);
    buffer_.resize(found.size);
  }
}

Inbox::Next Inbox::look_at_part(int descriptor, std::string_view bytes, std::size_t size) {
  if (has_ended(descriptor)) return Next::broken;
  const std::size_t enough = size > longest_whole ? usual_size : size;
  // If the socket becomes readable with fewer bytes than the kernel was asked for, it cannot hold
  // so many: the part is judged as it is.
  if (bytes.size() < enough && awaited_ != enough && ask_for(descriptor, enough)) return Next::wait;
  // The check needs at least a header and the lengths of the reply's parts.
  constexpr std::size_t least = 64;
  if (bytes.size() < std::min(size, least)) return Next::wait;
  Finding found = check_.examine_beginning(bytes);
  if (found.kind == Finding::Kind::fault) {
    fault_ = std::move(found.fault);
    return Next::fault;
  }
  if (awaited_ != 0) ask_for(descriptor, 0);
  in_frame_ = true;
  return Next::read;
}

bool Inbox::ask_for(int descriptor, std::size_t bytes) {
  const int least = bytes == 0 ? 1 : static_cast<int>(bytes);
  int granted = 0;
  socklen_t size = sizeof granted;
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
  ::getsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &granted, &size);
  awaited_ = bytes;
  return granted >= least;
}

void Inbox::leave(int descriptor) {
  if (awaited_ != 0) ask_for(descriptor, 0);
}

void Inbox::tidy() {
  if (buffer_.size() > usual_size) buffer_ = {};
}

}  // namespace custodian::detail
