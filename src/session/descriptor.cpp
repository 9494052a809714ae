#include "session/descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace custodian::detail {

using boost::asio::posix::stream_descriptor;

bool Descriptor::follow(int descriptor) {
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    release();
    return false;
  }
  if (is_open() && status.st_ino == inode_) return false;
  release();
  // Debian's build of the C client leaves the descriptor open across exec: every child of the
  // application would inherit the session.
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  const int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) return false;
  boost::system::error_code error;
  duplicate_.assign(duplicate, error);
  if (error) {
    ::close(duplicate);
    return false;
  }
  inode_ = status.st_ino;
  return true;
}

void Descriptor::release() {
  boost::system::error_code ignored;
  duplicate_.close(ignored);
  inode_ = 0;
  waits_ = std::make_shared<Waits>();
}

void Descriptor::wait_readable(std::function<void()> ready) {
  wait(stream_descriptor::wait_read, waits_->readable, std::move(ready));
}

void Descriptor::wait_writable(std::function<void()> ready) {
  wait(stream_descriptor::wait_write, waits_->writable, std::move(ready));
}

void Descriptor::wait(stream_descriptor::wait_type type, bool& waiting,
                      std::function<void()> ready) {
  if (waiting || !is_open()) return;
  waiting = true;
  // `waiting` is a member of *waits_, and is touched only while that object exists.
  duplicate_.async_wait(type, [waits = std::weak_ptr{waits_}, &waiting,
                               ready = std::move(ready)](boost::system::error_code error) {
    const auto alive = waits.lock();
    if (!alive) return;
    waiting = false;
    if (error != boost::asio::error::operation_aborted) ready();
  });
}

void Descriptor::shut_down() {
  if (is_open()) ::shutdown(duplicate_.native_handle(), SHUT_RDWR);
}

bool Descriptor::has_room() {
  pollfd socket{duplicate_.native_handle(), POLLOUT, 0};
  return ::poll(&socket, 1, 0) > 0;
}

std::string Descriptor::unread() {
  std::string input(4096, '\0');
  const auto count = ::recv(duplicate_.native_handle(), input.data(), input.size(), MSG_DONTWAIT);
  input.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return input;
}

bool Descriptor::discard_input() {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  for (;;) {
    const auto count =
        ::recv(duplicate_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) continue;
    return count < 0 && (errno == EAGAIN || errno == EINTR);
  }
}

}  // namespace custodian::detail
