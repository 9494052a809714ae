#pragma once

/// \file
/// A line of the C client's log is translated here for this library's log. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "custodian/log.hpp"

namespace custodian::detail {

struct CLogLine {
  LogLevel level = LogLevel::debug;
  std::string message{};
};

/// Drops the time, the process and the thread of a line: the user's log adds its own if it needs
/// them. Where the line names the placeholder (session/placeholder.hpp) it names the server
/// instead. Returns nothing for the lines that come because the library does not dial: its choice
/// among the servers, and how late it was asked.
[[nodiscard]] std::optional<CLogLine> parse_c_log_line(std::string_view line,
                                                       std::string_view placeholder,
                                                       std::string_view server);

}  // namespace custodian::detail
