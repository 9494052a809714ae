#pragma once

/// \file
/// The subcommand once.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

/// Adds the subcommand once, which runs a command at most once per period, on all hosts together.
/// Both arguments must outlive the parsing.
void add_once_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
