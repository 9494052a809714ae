#pragma once

/// \file
/// Socket bytes are what servers on this machine have sent to their clients, as the kernel counts
/// it: the same for all kinds of servers.

#include <cstdint>
#include <vector>

namespace custodian::bench {

/// Bytes that were sent from these TCP ports, over connections that are still open. Not those that
/// were acknowledged: an acknowledgement may come 40 ms later. Throws std::system_error.
[[nodiscard]] std::int64_t bytes_sent_from(const std::vector<std::uint16_t>& ports);

}  // namespace custodian::bench
