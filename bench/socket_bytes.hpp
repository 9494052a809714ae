#pragma once

/// \file
/// Socket bytes are the bytes that servers on this machine have sent to their clients. The kernel
/// counts them, in the same way for all kinds of servers.

#include <cstdint>
#include <vector>

namespace custodian::bench {

/// Bytes sent from these TCP ports over connections that are still open, whether acknowledged or
/// not: an acknowledgement may come 40 ms later. Throws std::system_error.
[[nodiscard]] std::int64_t bytes_sent_from(const std::vector<std::uint16_t>& ports);

}  // namespace custodian::bench
