#pragma once

/// \file
/// The encoded size is the exact number of bytes of a request in a packet. A server compares it
/// with its `jute.maxbuffer`, which leaves out the four bytes of the length in front
/// (NIOServerCnxn, readLength; a packet of exactly the limit passes). A larger one is answered by
/// closing the connection, so that one request too large costs every lock of its client a
/// reconnection. Pure.

#include <cstddef>
#include <string_view>

#include "custodian/session/session.hpp"

namespace custodian::detail {

[[nodiscard]] std::size_t encoded_size(const Request& request);

/// The size of the packet that presents a credential to a server.
[[nodiscard]] std::size_t encoded_size(const SessionSettings::Credential& credential);

/// The size of the multi of one check, with a path of so many bytes.
[[nodiscard]] std::size_t encoded_size_of_check(std::size_t path_size);

/// What a sequential create appends to its path.
inline constexpr std::size_t sequence_digits = 10;

}  // namespace custodian::detail
