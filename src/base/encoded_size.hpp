#pragma once

/// \file
/// encoded_size() is the exact number of bytes that a request takes in a packet, without the four
/// bytes of the length in front. A server compares it with its `jute.maxbuffer` (NIOServerCnxn,
/// readLength; a packet of exactly the limit passes), and closes the connection on a larger one:
/// one request that is too large costs every lock of its client a reconnection. Pure.

#include <cstddef>
#include <string_view>

#include "custodian/session/session.hpp"

namespace custodian::detail {

[[nodiscard]] std::size_t encoded_size(const Request& request);

/// The size of the packet that presents a credential to a server.
[[nodiscard]] std::size_t encoded_size(const SessionSettings::Credential& credential);

/// The size of a multi with a single check, whose path has this many bytes.
[[nodiscard]] std::size_t encoded_size_of_check(std::size_t path_size);

/// The number of digits that a server appends to the path of a sequential create.
inline constexpr std::size_t sequence_digits = 10;

}  // namespace custodian::detail
