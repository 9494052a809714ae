#include "socket_bytes.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace custodian::bench {
namespace {

struct Request {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

class DiagnosisSocket {
 public:
  DiagnosisSocket()
      : descriptor_{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)} {
    check(descriptor_);
  }
  DiagnosisSocket(const DiagnosisSocket&) = delete;
  DiagnosisSocket& operator=(const DiagnosisSocket&) = delete;
  ~DiagnosisSocket() { ::close(descriptor_); }

  /// Asks for the established connections of an address family, with the kernel's TCP figures.
  void ask(std::uint8_t family) const {
    Request request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.body.sdiag_family = family;
    request.body.sdiag_protocol = IPPROTO_TCP;
    request.body.idiag_ext = 1 << (INET_DIAG_INFO - 1);
    request.body.idiag_states = 1 << established;
    check(::send(descriptor_, &request, sizeof request, 0));
  }
  std::size_t read(void* into, std::size_t size) const {
    const ssize_t got = ::recv(descriptor_, into, size, 0);
    check(got);
    return static_cast<std::size_t>(got);
  }

 private:
  // The kernel's value of TCP_ESTABLISHED.
  static constexpr int established = 1;
  static void check(ssize_t result) {
    if (result < 0) throw std::system_error{errno, std::generic_category(), "sock_diag"};
  }
  const int descriptor_;
};

std::int64_t bytes_of(const nlmsghdr* message, const inet_diag_msg* socket) {
  auto left = static_cast<unsigned>(message->nlmsg_len - NLMSG_LENGTH(sizeof *socket));
  const auto* start = reinterpret_cast<const char*>(socket) + NLMSG_ALIGN(sizeof *socket);
  for (auto* attribute = reinterpret_cast<const rtattr*>(start); RTA_OK(attribute, left);
       attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type != INET_DIAG_INFO) continue;
    tcp_info info{};
    std::memcpy(&info, RTA_DATA(attribute),
                std::min<std::size_t>(RTA_PAYLOAD(attribute), sizeof info));
    return static_cast<std::int64_t>(info.tcpi_bytes_sent);
  }
  return 0;
}

std::int64_t sum(std::uint8_t family, const std::vector<std::uint16_t>& ports) {
  const DiagnosisSocket kernel;
  kernel.ask(family);
  std::int64_t bytes = 0;
  alignas(nlmsghdr) std::array<char, 32768> buffer{};
  for (;;) {
    const std::size_t size = kernel.read(buffer.data(), buffer.size());
    for (std::size_t place = 0; place + sizeof(nlmsghdr) <= size;) {
      const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data() + place);
      place += NLMSG_ALIGN(message->nlmsg_len);
      if (message->nlmsg_type == NLMSG_DONE) return bytes;
      if (message->nlmsg_type == NLMSG_ERROR)
        throw std::system_error{EPROTO, std::generic_category(), "sock_diag"};
      const auto* socket = reinterpret_cast<const inet_diag_msg*>(message + 1);
      if (std::find(ports.begin(), ports.end(), ntohs(socket->id.idiag_sport)) != ports.end())
        bytes += bytes_of(message, socket);
    }
  }
}

}  // namespace

std::int64_t bytes_sent_from(const std::vector<std::uint16_t>& ports) {
  // A server may listen on both families; the kernel may then list its IPv4 connections as IPv6.
  return sum(AF_INET, ports) + sum(AF_INET6, ports);
}

}  // namespace custodian::bench
