#include "loopback.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace custodian::bench {
namespace {

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), call};
  return result;
}

}  // namespace

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int tcp_socket() { return checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"); }

std::uint16_t bind_to_free_port(int descriptor) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  checked(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size), "bind");
  checked(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return ntohs(address.sin_port);
}

}  // namespace custodian::bench
