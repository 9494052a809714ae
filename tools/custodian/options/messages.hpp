#pragma once

/// \file
/// What the command says of itself, on the standard error output: lines with "custodian: " before
/// them. The standard output belongs to the data, or to the command that is run.

#include <string_view>

#include "custodian/log.hpp"

namespace custodian::cli {

/// A line that is always said, and is one: what would command a terminal, or begin another line,
/// is escaped. Any thread.
void say(std::string_view message);

/// Where the client's own lines go: its errors and warnings, each once; with -v what its connection
/// does, every time, and with -vv everything.
[[nodiscard]] LogSink client_log(int verbosity);

}  // namespace custodian::cli
