#include "session/c_log_line.hpp"

namespace custodian::detail {

namespace {

/// The C client calls an address that refuses a connection an error, and a late ping a warning.
/// Both are normal for a client that reconnects by itself.
LogLevel level_of(std::string_view message) {
  if (message.starts_with("ZOO_ERROR@")) return LogLevel::warning;
  if (message.starts_with("ZOO_WARN@")) return LogLevel::info;
  return LogLevel::debug;
}

}  // namespace

std::optional<CLogLine> parse_c_log_line(std::string_view line, std::string_view placeholder,
                                         std::string_view server) {
  for (const std::string_view own : {"exhaustively trying all servers", "Exceeded deadline by"}) {
    if (line.find(own) != std::string_view::npos) return std::nullopt;
  }
  // A line is like "2026-11-23 10:00:00,000:4711(0x7f):ZOO_ERROR@function@2370: text".
  const std::size_t begin = line.find(":ZOO_");
  CLogLine parsed;
  parsed.message = begin == std::string_view::npos ? line : line.substr(begin + 1);
  parsed.level = level_of(parsed.message);
  for (std::size_t at = 0; !placeholder.empty();) {
    at = parsed.message.find(placeholder, at);
    if (at == std::string::npos) break;
    parsed.message.replace(at, placeholder.size(), server);
    at += server.size();
  }
  return parsed;
}

}  // namespace custodian::detail
