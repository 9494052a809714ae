#pragma once

/// \file
/// What the C client writes to its log, as this library's log has it. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "custodian/log.hpp"

namespace custodian::detail {

/// An address to which no TCP connection can be begun: the C client is sent there when it must drop
/// what it has. See CClient::take_up_changes().
inline constexpr std::string_view nowhere = "255.255.255.255:9";

struct CLogLine {
  LogLevel level = LogLevel::debug;
  std::string message{};
};

/// Without the time, the process and the thread, which the log's own lines have or need not have.
/// Nothing of a line that tells of `nowhere`: no server of the user's is meant.
[[nodiscard]] std::optional<CLogLine> parse_c_log_line(std::string_view line);

}  // namespace custodian::detail
