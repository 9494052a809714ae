#pragma once

/// \file
/// Socket bytes are the bytes that servers on this machine have sent to their clients. The kernel
/// counts them, in the same way for all kinds of servers.

#include <cstdint>
#include <vector>

namespace custodian::bench {

/// The bytes that were sent from these TCP ports over connections that are still open. Bytes
/// without an acknowledgement count as well, since the acknowledgement may come 40 ms later. Throws
/// std::system_error.
[[nodiscard]] std::int64_t bytes_sent_from(const std::vector<std::uint16_t>& ports);

}  // namespace custodian::bench
