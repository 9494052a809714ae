#pragma once

/// \file
/// Cork holds back what is written to a socket, until it is pulled. The C client writes each
/// request in two parts; without a cork, each part is a packet of its own, for which the server
/// wakes up.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

namespace custodian::detail {

/// The cork of one TCP socket at a time. On other sockets, and other systems than Linux, nothing is
/// held back. A cork that stays in by mistake is pulled by the system after 200 ms.
class Cork {
 public:
  /// Holds back what is written to the socket from now on.
  void put_in(int socket) noexcept {
    if (!is_in_ && fits_) is_in_ = fits_ = set(socket, 1);
  }
  /// Sends what was held back.
  void pull(int socket) noexcept {
    if (std::exchange(is_in_, false)) set(socket, 0);
  }
  /// The socket is gone.
  void forget() noexcept { *this = {}; }

 private:
  static bool set([[maybe_unused]] int socket, [[maybe_unused]] int on) noexcept {
#ifdef TCP_CORK
    return ::setsockopt(socket, IPPROTO_TCP, TCP_CORK, &on, sizeof on) == 0;
#else
    return false;
#endif
  }

  bool is_in_ = false;
  bool fits_ = true;  ///< the socket is one that can be corked, as far as is known
};

}  // namespace custodian::detail
