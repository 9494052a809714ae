#pragma once

/// \file
/// TCP sockets on 127.0.0.1, for the servers and the relay that the benchmark starts.

#include <netinet/in.h>

#include <cstdint>

namespace custodian::bench {

/// A port of 0 lets the kernel choose.
[[nodiscard]] sockaddr_in loopback(std::uint16_t port);

/// Throws `std::system_error`. The caller closes it.
[[nodiscard]] int tcp_socket();

/// Binds the socket to a port that the kernel chooses, and returns that. Throws
/// `std::system_error`.
[[nodiscard]] std::uint16_t bind_to_free_port(int descriptor);

}  // namespace custodian::bench
