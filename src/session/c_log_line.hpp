#pragma once

/// \file
/// A line of the C client's log is translated here for this library's log. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "custodian/log.hpp"

namespace custodian::detail {

/// An address to which no TCP connection can be begun: the C client is sent there when it must drop
/// its connection. See CClient::take_up_changes().
inline constexpr std::string_view nowhere = "255.255.255.255:9";

struct CLogLine {
  LogLevel level = LogLevel::debug;
  std::string message{};
};

/// Drops the time, the process and the thread of a line: the user's log adds its own if it needs
/// them. Returns nothing for a line about `nowhere`, which is not one of the user's servers.
[[nodiscard]] std::optional<CLogLine> parse_c_log_line(std::string_view line);

}  // namespace custodian::detail
