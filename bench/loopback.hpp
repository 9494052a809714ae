#pragma once

/// \file
/// TCP sockets on 127.0.0.1, for the servers and the relay that the benchmark starts.

#include <netinet/in.h>

#include <cstdint>

namespace custodian::bench {

/// The address 127.0.0.1 with this port. A port of 0 lets the kernel choose.
[[nodiscard]] sockaddr_in loopback(std::uint16_t port);

/// Opens a TCP socket, which the caller closes. Throws `std::system_error`.
[[nodiscard]] int tcp_socket();

/// Binds the socket to a port that the kernel chooses, and returns the port. Throws
/// `std::system_error`.
[[nodiscard]] std::uint16_t bind_to_free_port(int descriptor);

}  // namespace custodian::bench
