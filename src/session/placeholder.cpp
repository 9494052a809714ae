#include "session/placeholder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "custodian/error.hpp"

namespace custodian::detail {

const Placeholder& Placeholder::of_this_process() {
  // The placeholder is never destroyed, because threads may use it while the process exits.
  static const Placeholder* const only = new Placeholder;
  return *only;
}

Placeholder::Placeholder() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  // SO_REUSEADDR is not set: so other processes can neither bind to the port nor listen there.
  const bool bound = descriptor >= 0 &&
                     ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (!bound) {
    const error_code error{errno, boost::system::system_category()};
    if (descriptor >= 0) ::close(descriptor);
    throw Error{error, "holding a port of 127.0.0.1", "", "a connection is handed over there"};
  }
  text_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace custodian::detail
