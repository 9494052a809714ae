#pragma once

/// \file
/// Descriptor lets Asio wait for the C client's socket.
///
/// The C client may close its descriptor at any time, and get the same number again for another
/// socket. So Asio is given a duplicate, which Custodian closes, and a socket is recognised by its
/// inode. The duplicate also serves to shut down a connection that the C client would wait for too
/// long.

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

namespace custodian::detail {

class Descriptor {
 public:
  explicit Descriptor(const boost::asio::any_io_executor& strand) : duplicate_{strand} {}

  /// Duplicates the socket behind the C client's descriptor, if it is another one than before;
  /// returns whether it did. -1 releases the duplicate.
  bool follow(int descriptor);
  void release();
  [[nodiscard]] bool is_open() const { return duplicate_.is_open(); }

  /// Calls back once when the socket is readable, or writable. If a wait is under way already, that
  /// one is kept. No call comes for a socket that was dropped.
  void wait_readable(std::function<void()> ready);
  void wait_writable(std::function<void()> ready);

  /// Ends the connection for both sides, as a network failure would.
  void shut_down();
  /// Whether the kernel accepts output now.
  [[nodiscard]] bool has_room();
  /// Reads the bytes that the C client has left unread on a connection that has ended, 4 KiB at
  /// most: a few short replies.
  [[nodiscard]] std::string unread();
  /// Reads and drops all input; false when the other side has closed.
  [[nodiscard]] bool discard_input();

 private:
  void wait(boost::asio::posix::stream_descriptor::wait_type type, bool& waiting,
            std::function<void()> ready);

  boost::asio::posix::stream_descriptor duplicate_;
  ino_t inode_ = 0;
  /// The waits that are under way on the present socket. release() makes a new object, so a late
  /// completion on an earlier socket finds its Waits destroyed, and does nothing.
  struct Waits {
    bool readable = false;
    bool writable = false;
  };
  std::shared_ptr<Waits> waits_ = std::make_shared<Waits>();
};

}  // namespace custodian::detail
