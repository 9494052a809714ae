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

/// Called on the client's callback executor, one line at a time and in order; without a line break
/// at the end. A line is printable UTF-8, even where it quotes names of other clients' nodes and
/// words of servers: control characters, those that turn the direction of writing or are not seen,
/// and bytes that are no UTF-8 are written as escapes ("\n", "\x1b", "\u{202e}"). An empty sink
/// discards. An exception that it throws is swallowed.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// "debug", "info", "warning" or "error".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LogLevel level) noexcept;

}  // namespace custodian
