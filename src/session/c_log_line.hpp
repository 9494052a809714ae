#pragma once

/// \file
/// parse_c_log_line() translates a line of the C client's log for this library's log. Pure.

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
/// them. Replaces the placeholder (session/placeholder.hpp) by the server's address. Returns
/// nothing for lines that mean nothing because Custodian dials instead of the C client: about its
/// choice among the servers, and about how late it was called.
[[nodiscard]] std::optional<CLogLine> parse_c_log_line(std::string_view line,
                                                       std::string_view placeholder,
                                                       std::string_view server);

}  // namespace custodian::detail
