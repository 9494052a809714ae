#pragma once

/// \file
/// Messages go to the standard error output, each line with "custodian: " in front. The standard
/// output belongs to the data, or to the command that is run.

#include <string_view>

#include "custodian/log.hpp"

namespace custodian::cli {

/// Writes the message at any verbosity, as one line: terminal control characters and line breaks
/// are escaped. Threads: any.
void say(std::string_view message);

/// The sink for the client's log: errors and warnings, each once; with -v also every change of the
/// connection, and with -vv everything.
[[nodiscard]] LogSink client_log(int verbosity);

}  // namespace custodian::cli
