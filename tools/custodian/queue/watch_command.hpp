#pragma once

/// \file
/// custodian watch PATH prints the nodes at and below a path, and a line for each change.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_watch_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
