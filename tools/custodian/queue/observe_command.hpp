#pragma once

/// \file
/// custodian observe PATH prints the leader, a line for each change.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_observe_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
