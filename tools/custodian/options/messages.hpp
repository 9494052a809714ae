#pragma once

/// \file
/// Messages go to the standard error output, each line with "custodian: " in front. The standard
/// output belongs to the data, or to the command that is run.

#include <string_view>

#include "custodian/log.hpp"

namespace custodian::cli {

/// Always writes the message, as one line: characters that would command a terminal, or begin
/// another line, are escaped. Any thread.
void say(std::string_view message);

/// The sink for the client's own lines: errors and warnings, each once; with -v every change of its
/// connection, and with -vv everything.
[[nodiscard]] LogSink client_log(int verbosity);

}  // namespace custodian::cli
