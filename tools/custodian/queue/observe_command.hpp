#pragma once

/// \file
/// custodian observe PATH prints the leader, and a line for each change of leader.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_observe_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
