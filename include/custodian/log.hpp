#pragma once

/// \file
/// LogSink receives a client's log lines. The library has no logger of its own: the application
/// chooses.

#include <functional>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian {

/// How much a line matters. `warning` and `error` are worth an alert; see docs/operating.md.
enum class LogLevel { debug, info, warning, error };

/// Receives a client's log lines. Called on the client's callback executor, one line at a time and
/// in order. A line has no line break at its end. A line is printable UTF-8, even if it quotes
/// names of other clients' nodes or texts of servers: control characters, characters that change
/// the direction of writing or are invisible, and bytes that are not UTF-8 are written as escapes
/// ("\n", "\x1b", "\u{202e}"). An empty sink discards all lines. An exception from a sink is
/// swallowed.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// "debug", "info", "warning" or "error".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LogLevel level) noexcept;

}  // namespace custodian
