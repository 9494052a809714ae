#include "relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "loopback.hpp"
#include "packet_counter.hpp"

namespace custodian::bench {
namespace {

void check(int result, const char* what) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), what};
}

void send_at_once(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool send_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(descriptor, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

Relay::Relay(std::uint16_t server_port)
    : server_port_{server_port}, listening_{tcp_socket()}, wake_{::eventfd(0, EFD_CLOEXEC)} {
  check(wake_, "eventfd");
  port_ = bind_to_free_port(listening_);
  check(::listen(listening_, 8), "listen");
  thread_ = std::jthread{[this] { serve(); }};
}

Relay::~Relay() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_, &one, sizeof one));
  thread_.join();
  ::close(listening_);
  ::close(wake_);
}

std::string Relay::address() const { return "127.0.0.1:" + std::to_string(port_); }

void Relay::serve() {
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{listening_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    ::poll(ready.data(), ready.size(), -1);
    if (ready[1].revents != 0) return;
    const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int server = tcp_socket();
    const sockaddr_in address = loopback(server_port_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      pass(client, server);
    ::close(server);
    ::close(client);
  }
}

void Relay::pass(int client, int server) {
  send_at_once(client);
  send_at_once(server);
  requests_ = 0;
  turns_ = 0;
  PacketCounter packets;
  bool has_heard = true;
  std::array<char, 65536> buffer{};
  for (;;) {
    std::array<pollfd, 3> ready{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0},
                                pollfd{wake_, POLLIN, 0}};
    ::poll(ready.data(), ready.size(), -1);
    if (ready[2].revents != 0) return;
    if (ready[0].revents != 0) {
      const ssize_t size = ::read(client, buffer.data(), buffer.size());
      if (size <= 0) return;
      requests_ += packets.count(buffer.data(), static_cast<std::size_t>(size));
      if (has_heard) ++turns_;
      has_heard = false;
      if (!send_all(server, buffer.data(), static_cast<std::size_t>(size))) return;
    }
    if (ready[1].revents != 0) {
      const ssize_t size = ::read(server, buffer.data(), buffer.size());
      if (size <= 0) return;
      has_heard = true;
      if (!send_all(client, buffer.data(), static_cast<std::size_t>(size))) return;
    }
  }
}

}  // namespace custodian::bench
