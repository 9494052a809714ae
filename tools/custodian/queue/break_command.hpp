#pragma once

/// \file
/// custodian break PATH --node NODE deletes a contender's node.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_break_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
